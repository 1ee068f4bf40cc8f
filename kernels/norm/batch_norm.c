// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with given statistics, any float dtype, in double.
#include <math.h>

#include "kernels/engine/norm.h"

typedef struct batch_norm {
    ember_axis_t axis;
    ember_norm_vector_t weight;
    ember_norm_vector_t bias;
    ember_norm_vector_t mean;
    ember_norm_vector_t var;
    double eps;
} batch_norm_t;

static void channel(const batch_norm_t *s, uint32_t c) {
    const ember_axis_t *axis = &s->axis;
    const double rstd = 1.0 / sqrt(ember_norm_get(&s->var, c, 1.0) + s->eps);
    const double scale = ember_norm_get(&s->weight, c, 1.0) * rstd;
    const double shift =
        ember_norm_get(&s->bias, c, 0.0) - ember_norm_get(&s->mean, c, 0.0) * scale;

    for (uint32_t o = 0; o < axis->outer; o++) {
        size_t at = ((size_t)o * axis->count + c) * axis->inner;
        for (uint32_t i = 0; i < axis->inner; i++, at++) {
            const double x =
                ember_load_double(axis->x_dtype, axis->x + at * axis->x_size);
            ember_store_double(axis->y_dtype, axis->y + at * axis->y_size,
                               x * scale + shift);
        }
    }
}

static int32_t run(void *state) {
    const batch_norm_t *s = state;
    for (uint32_t c = 0; c < s->axis.count && s->axis.outer > 0; c++) {
        channel(s, c);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    batch_norm_t *s = state;
    ember_tensor_t x;

    ember_node_tensor(node, 0, &x);
    const ember_status_t status = ember_axis_prepare(node, &s->axis, 1, 7);
    if (status != EMBER_OK) {
        return status;
    }
    if (x.rank < 2) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "batch_norm: no channels");
    }
    const uint32_t channels = (uint32_t)x.sizes[1];
    ember_norm_vector(node, 1, channels, &s->weight);
    ember_norm_vector(node, 2, channels, &s->bias);
    ember_norm_vector(node, 3, channels, &s->mean);
    ember_norm_vector(node, 4, channels, &s->var);
    s->eps = ember_node_double(node, 6);
    ember_norm_no_outputs(node, 8);
    return ember_node_status(node);
}

EMBER_KERNEL(batch_norm, batch_norm_t);
