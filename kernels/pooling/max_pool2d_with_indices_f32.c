// SPDX-License-Identifier: Apache-2.0
// max_pool2d_with_indices_f32: the largest element of each window (a NaN counts as
// such) and its index in the plane, float32.
#include "kernels/pooling/max.h"

static void one(const void *state, char *x, char *y,
                const int32_t at[EMBER_POOL_DIMS]) {
    const ember_max_pool_t *s = state;
    const ember_pool_t *pool = &s->pool;
    const ember_pool_box_t box = ember_max_window(pool, at);
    int32_t index = ember_max_index(pool, 0, box.first[1], box.first[2]);
    float best = -__builtin_inff();

    for (int32_t i = box.first[1]; i < box.past[1]; i += pool->dilation[1]) {
        const char *row = x + (ptrdiff_t)i * pool->x_steps[3];
        for (int32_t j = box.first[2]; j < box.past[2]; j += pool->dilation[2]) {
            const char *item = row + (ptrdiff_t)j * pool->x_steps[4];
            const float value = *(const float *)(const void *)item;
            if (value > best || value != value) { // larger, or NaN
                index = i * pool->in[2] + j;
                best = value;
            }
        }
    }
    *(float *)(void *)y = best;
    ember_max_store(s, y, index);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_max_pool_t *s = state;
    const ember_status_t status = ember_max_prepare(state, node, 2);

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
