// SPDX-License-Identifier: Apache-2.0
// max_pool2d_with_indices_f32: the largest element of each window (a NaN counts as
// such) and its index in the plane, float32.
#include "kernels/pooling/max.h"

static void one(const void *state, const char *x, char *y, int32_t h, int32_t w) {
    const ember_max_pool_t *s = state;
    const ember_pool_t *pool = &s->pool;
    const ember_max_range_t rows = ember_max_range(pool, 0, h);
    const ember_max_range_t columns = ember_max_range(pool, 1, w);
    const uint32_t first = (uint32_t)rows.first * (uint32_t)pool->in[1];
    int32_t index = (int32_t)(first + (uint32_t)columns.first);
    float best = -__builtin_inff();

    for (int32_t i = rows.first; i < rows.past; i += pool->dilation[0]) {
        const char *row = x + (ptrdiff_t)i * pool->x_steps[2];
        for (int32_t j = columns.first; j < columns.past; j += pool->dilation[1]) {
            const char *at = row + (ptrdiff_t)j * pool->x_steps[3];
            const float value = *(const float *)(const void *)at;
            if (value > best || value != value) { // larger, or NaN
                index = i * pool->in[1] + j;
                best = value;
            }
        }
    }
    *(float *)(void *)y = best;
    ember_max_store(s, y, index);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_max_pool_t *s = state;
    const ember_status_t status = ember_max_prepare(state, node);

    if (status == EMBER_OK && s->pool.dtype != EMBER_F32) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "max_pool2d: not float32");
    }
    return status;
}

static int32_t run(void *state) {
    ember_pool_each(&((const ember_max_pool_t *)state)->pool, one, state);
    return EMBER_OK;
}

EMBER_KERNEL(max_pool2d_with_indices_f32, ember_max_pool_t);
