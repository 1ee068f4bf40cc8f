// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with given statistics.
#include "kernels/norm/batch.h"

typedef struct batch_norm {
    ember_batch_t batch;
    ember_norm_vector_t mean;
    ember_norm_vector_t var;
} batch_norm_t;

static int32_t run(void *state) {
    const batch_norm_t *s = state;
    for (uint32_t c = 0; c < ember_batch_channels(&s->batch); c++) {
        (void)ember_batch_apply(&s->batch, c, ember_norm_get(&s->mean, c, 0.0),
                                ember_norm_get(&s->var, c, 1.0));
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    batch_norm_t *s = state;
    uint32_t channels;
    const ember_status_t status = ember_batch_prepare(&s->batch, node, 6, 7, &channels);
    if (status != EMBER_OK) {
        return status;
    }
    ember_norm_vector(node, 3, channels, &s->mean);
    ember_norm_vector(node, 4, channels, &s->var);
    ember_norm_no_outputs(node, 8);
    return ember_node_status(node);
}

EMBER_KERNEL(batch_norm, batch_norm_t);
