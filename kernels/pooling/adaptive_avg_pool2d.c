// SPDX-License-Identifier: Apache-2.0
// adaptive_avg_pool2d: output (h, w) is the mean of rows [h * in / out, (h + 1) * in /
// out), the end rounded up, and of columns alike.
#include "kernels/pooling/pool.h"

static int32_t first_of(const ember_pool_t *pool, uint32_t d, int32_t at) {
    return (int32_t)((int64_t)at * pool->in[d] / pool->out[d]);
}

static int32_t past_of(const ember_pool_t *pool, uint32_t d, int32_t at) {
    const int64_t scaled = (int64_t)(at + 1) * pool->in[d];
    return (int32_t)((scaled + pool->out[d] - 1) / pool->out[d]);
}

static void one(const void *state, const char *x, char *y, int32_t h, int32_t w) {
    const ember_pool_t *pool = state;
    const ember_class_t class = ember_class_of(pool->dtype);
    const int32_t top = first_of(pool, 0, h);
    const int32_t bottom = past_of(pool, 0, h);
    const int32_t left = first_of(pool, 1, w);
    const int32_t right = past_of(pool, 1, w);
    ember_number_t mean = ember_pool_sum(pool, x, top, bottom, left, right);

    if (class == EMBER_CLASS_F32) {
        mean.f32 = mean.f32 / (float)(bottom - top) / (float)(right - left);
    } else {
        mean.f64 = mean.f64 / (bottom - top) / (right - left);
    }
    ember_elements_store(class, &mean, pool->dtype, y, 0, 1);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_pool_args_t args = {.out = 2};
    const ember_pool_t *pool = state;
    const ember_status_t status = ember_pool_prepare(state, node, &args);

    if (status == EMBER_OK && ember_class_of(pool->dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "adaptive pool: of integers");
    }
    return status;
}

static int32_t run(void *state) {
    ember_pool_each(state, one, state);
    return EMBER_OK;
}

EMBER_KERNEL(adaptive_avg_pool2d, ember_pool_t);
