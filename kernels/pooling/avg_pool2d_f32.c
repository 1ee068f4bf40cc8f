// SPDX-License-Identifier: Apache-2.0
// avg_pool2d_f32: means of windows, float32.
#include "kernels/pooling/avg.h"

static void one(const void *state, const char *x, char *y, int32_t h, int32_t w) {
    const ember_avg_pool_t *s = state;
    const ember_pool_range_t rows = ember_avg_range(&s->pool, 0, h);
    const ember_pool_range_t columns = ember_avg_range(&s->pool, 1, w);
    const char *row = x + (ptrdiff_t)rows.first * s->pool.x_steps[2] +
                      (ptrdiff_t)columns.first * s->pool.x_steps[3];
    float sum = 0.0f;

    for (int32_t i = rows.past - rows.first; i > 0; i--) {
        const char *at = row;
        for (int32_t j = columns.past - columns.first; j > 0; j--) {
            sum += *(const float *)(const void *)at;
            at += s->pool.x_steps[3];
        }
        row += s->pool.x_steps[2];
    }
    if (rows.first < rows.past && columns.first < columns.past) {
        sum /= (float)ember_avg_divisor(s, rows, columns);
    }
    *(float *)(void *)y = sum;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_avg_pool_t *s = state;
    const ember_status_t status = ember_avg_prepare(state, node);

    if (status == EMBER_OK && s->pool.dtype != EMBER_F32) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "avg_pool2d: not float32");
    }
    return status;
}

static int32_t run(void *state) {
    ember_pool_each(&((const ember_avg_pool_t *)state)->pool, one, state);
    return EMBER_OK;
}

EMBER_KERNEL(avg_pool2d_f32, ember_avg_pool_t);
