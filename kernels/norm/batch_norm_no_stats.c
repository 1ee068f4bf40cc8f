// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with the statistics of the batch itself, which are also outputs.
#include "kernels/norm/batch.h"

typedef struct batch_norm {
    ember_batch_t batch;
    ember_norm_vector_t mean;
    ember_norm_vector_t rstd;
} batch_norm_t;

static int32_t run(void *state) {
    const batch_norm_t *s = state;
    for (uint32_t c = 0; c < ember_batch_channels(&s->batch); c++) {
        double mean, variance;
        ember_batch_moments(&s->batch, c, &mean, &variance);
        ember_norm_set(&s->rstd, c, ember_batch_apply(&s->batch, c, mean, variance));
        ember_norm_set(&s->mean, c, mean);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    batch_norm_t *s = state;
    uint32_t channels;
    const ember_status_t status = ember_batch_prepare(&s->batch, node, 5, 6, &channels);
    if (status != EMBER_OK) {
        return status;
    }
    const int32_t size = (int32_t)channels;
    ember_norm_output(node, 7, 1, &size, &s->mean);
    ember_norm_output(node, 8, 1, &size, &s->rstd);
    return ember_node_status(node);
}

EMBER_KERNEL(batch_norm_no_stats, batch_norm_t);
