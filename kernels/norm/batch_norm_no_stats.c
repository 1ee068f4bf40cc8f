// SPDX-License-Identifier: Apache-2.0
// Batch normalisation by the statistics of the batch itself, which are also
// outputs. Any float dtype, in double.
#include <math.h>

#include "kernels/engine/norm.h"

typedef struct batch_norm {
    ember_axis_t axis;
    ember_norm_vector_t weight;
    ember_norm_vector_t bias;
    ember_norm_vector_t mean;
    ember_norm_vector_t rstd;
    double eps;
} batch_norm_t;

// The sum of (x - centre)^power over channel `c`; power 1 or 2.
static double moment(const ember_axis_t *axis, uint32_t c, double centre, int power) {
    double sum = 0.0;
    for (uint32_t o = 0; o < axis->outer; o++) {
        size_t at = ((size_t)o * axis->count + c) * axis->inner;
        for (uint32_t i = 0; i < axis->inner; i++, at++) {
            const double d =
                ember_load_double(axis->x_dtype, axis->x + at * axis->x_size) - centre;
            sum += power == 1 ? d : d * d;
        }
    }
    return sum;
}

static void channel(const batch_norm_t *s, uint32_t c) {
    const ember_axis_t *axis = &s->axis;
    const double count = (double)axis->outer * axis->inner;
    const double mean = moment(axis, c, 0.0, 1) / count;
    const double rstd = 1.0 / sqrt(moment(axis, c, mean, 2) / count + s->eps);
    const double scale = ember_norm_get(&s->weight, c, 1.0) * rstd;
    const double shift = ember_norm_get(&s->bias, c, 0.0) - mean * scale;

    for (uint32_t o = 0; o < axis->outer; o++) {
        size_t at = ((size_t)o * axis->count + c) * axis->inner;
        for (uint32_t i = 0; i < axis->inner; i++, at++) {
            const double x =
                ember_load_double(axis->x_dtype, axis->x + at * axis->x_size);
            ember_store_double(axis->y_dtype, axis->y + at * axis->y_size,
                               x * scale + shift);
        }
    }
    ember_norm_set(&s->mean, c, mean);
    ember_norm_set(&s->rstd, c, rstd);
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
    const ember_status_t status = ember_axis_prepare(node, &s->axis, 1, 6);
    if (status != EMBER_OK) {
        return status;
    }
    if (x.rank < 2) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "batch_norm: no channels");
    }
    const uint32_t channels = (uint32_t)x.sizes[1];
    ember_norm_vector(node, 1, channels, &s->weight);
    ember_norm_vector(node, 2, channels, &s->bias);
    ember_norm_output(node, 7, 1, &x.sizes[1], &s->mean);
    ember_norm_output(node, 8, 1, &x.sizes[1], &s->rstd);
    s->eps = ember_node_double(node, 5);
    return ember_node_status(node);
}

EMBER_KERNEL(batch_norm_no_stats, batch_norm_t);
