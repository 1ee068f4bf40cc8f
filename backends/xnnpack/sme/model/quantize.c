// SPDX-License-Identifier: Apache-2.0
// A model of device/quantize.c, without its instructions.
#include "backends/xnnpack/sme/gemm.h"

static float number_of(const ember_xnn_sme_quantize_t *job, size_t index) {
    return job->half ? ember_f32_from_f16(((const uint16_t *)job->x)[index])
                     : ((const float *)job->x)[index];
}

static void quantize_row(const ember_xnn_sme_quantize_t *job, uint32_t row) {
    const size_t first = (size_t)row * job->length;
    ember_xnn_limits_t limits = {0.0f, 0.0f};
    bool numbers = true;
    for (size_t i = first; i < first + job->length; i++) {
        const float x = number_of(job, i);
        limits.low = x < limits.low ? x : limits.low;
        limits.high = x > limits.high ? x : limits.high;
        numbers = numbers && x == x;
    }
    limits.low = numbers ? limits.low : EMBER_NAN;
    int32_t zero;
    const float exact = xnn_find_parameters(&limits, &zero);
    const float factor = job->half ? xnn_half_factor(exact) : exact;
    job->rows[row] = (ember_xnn_row_t){1.0f / exact, zero};
    for (size_t i = first; i < first + job->length; i++) {
        const float x = number_of(job, i) * factor;
        job->y[i] =
            (int8_t)(xnn_round(x, (float)(INT8_MIN - zero), (float)(INT8_MAX - zero)) +
                     zero);
    }
}

void ember_xnn_sme_quantize(const ember_xnn_sme_quantize_t *job) {
    for (uint32_t row = 0; row < job->count; row++) {
        quantize_row(job, row);
    }
}

void ember_xnn_sme_quantize_fixed(const ember_xnn_sme_quantize_t *job, float factor,
                                  const ember_xnn_range_t *range) {
    for (size_t i = 0; i < job->length; i++) {
        job->y[i] = xnn_quantize(number_of(job, i) * factor, range);
    }
}
