// SPDX-License-Identifier: Apache-2.0
// Batch normalisation. Contract: batch.h.
#include "kernels/norm/batch.h"

#include <math.h>

ember_status_t ember_batch_prepare(ember_batch_t *batch, ember_node_t *node,
                                   uint32_t eps, uint32_t out, uint32_t *channels) {
    ember_tensor_t x;

    ember_node_tensor(node, 0, &x);
    const ember_status_t status = ember_axis_prepare(node, &batch->axis, 1, out);
    if (status != EMBER_OK) {
        return status;
    }
    if (x.rank < 2) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "batch_norm: no channels");
    }
    *channels = (uint32_t)x.sizes[1];
    ember_norm_vector(node, 1, *channels, &batch->weight);
    ember_norm_vector(node, 2, *channels, &batch->bias);
    batch->eps = ember_node_double(node, eps);
    return ember_node_status(node);
}

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

void ember_batch_moments(const ember_batch_t *batch, uint32_t c, double *mean,
                         double *variance) {
    const double count = (double)batch->axis.outer * batch->axis.inner;

    *mean = moment(&batch->axis, c, 0.0, 1) / count;
    *variance = moment(&batch->axis, c, *mean, 2) / count;
}

double ember_batch_affine(const ember_batch_t *batch, uint32_t c, double mean,
                          double variance, double *scale, double *shift) {
    const double rstd = 1.0 / sqrt(variance + batch->eps);

    *scale = ember_norm_get(&batch->weight, c, 1.0) * rstd;
    *shift = ember_norm_get(&batch->bias, c, 0.0) - mean * *scale;
    return rstd;
}

double ember_batch_apply(const ember_batch_t *batch, uint32_t c, double mean,
                         double variance) {
    const ember_axis_t *axis = &batch->axis;
    double scale, shift;
    const double rstd = ember_batch_affine(batch, c, mean, variance, &scale, &shift);

    for (uint32_t o = 0; o < axis->outer; o++) {
        size_t at = ((size_t)o * axis->count + c) * axis->inner;
        for (uint32_t i = 0; i < axis->inner; i++, at++) {
            const double x =
                ember_load_double(axis->x_dtype, axis->x + at * axis->x_size);
            ember_store_double(axis->y_dtype, axis->y + at * axis->y_size,
                               x * scale + shift);
        }
    }
    return rstd;
}

uint32_t ember_batch_channels(const ember_batch_t *batch) {
    return batch->axis.outer > 0 ? batch->axis.count : 0;
}
