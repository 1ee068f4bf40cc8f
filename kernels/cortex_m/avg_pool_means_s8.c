// SPDX-License-Identifier: Apache-2.0
// ember::avg_pool_means.out, portable. Contract: avg_pool_rows_s8.h.
#include "kernels/cortex_m/avg_pool_rows_s8.h"
#include "kernels/cortex_m/quantized_avg_pool2d.h"

enum { SUMS, KERNEL, ZERO = 4, OUT = 8 };

typedef struct {
    const float *sums;
    int8_t *y;
    uint32_t count;
    int32_t elements; // of a window
    float scale;
    int32_t zero;
} avg_pool_means_t;

// The output of a mean in steps; NaN gives the least.
static int8_t limited(float steps, int32_t zero) {
    const float low = (float)(INT8_MIN - zero), high = (float)(INT8_MAX - zero);

    steps = steps > low ? steps : low;
    return (int8_t)((int32_t)(steps < high ? steps : high) + zero);
}

static int32_t run(void *state) {
    const avg_pool_means_t *s = state;

    for (uint32_t i = 0; i < s->count; i++) {
        const float steps = ember_avg_pool_s8_steps(s->sums[i], s->elements, s->scale);
        s->y[i] = limited(steps, s->zero);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    avg_pool_means_t *s = state;
    ember_tensor_t sums, y;
    int32_t kernel[2];

    ember_node_tensor(node, SUMS, &sums);
    ember_pool_s8_pair(node, KERNEL, 1, kernel);
    ember_node_output_like(node, OUT, &sums, &y);
    s->scale = ember_avg_pool_s8_scale(node, ZERO, &s->zero);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const int64_t elements = (int64_t)kernel[0] * kernel[1];
    if (sums.dtype != EMBER_F32 || y.dtype != EMBER_S8 || elements > INT32_MAX ||
        !ember_avg_pool_is_row(&sums) || !ember_avg_pool_is_row(&y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "avg_pool_means: no sums of int8");
    }
    s->sums = sums.data;
    s->y = y.data;
    s->count = sums.numel;
    s->elements = (int32_t)elements;
    return EMBER_OK;
}

EMBER_KERNEL(avg_pool_means_s8, avg_pool_means_t);
