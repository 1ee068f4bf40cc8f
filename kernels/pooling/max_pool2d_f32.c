// SPDX-License-Identifier: Apache-2.0
// max_pool2d_with_indices_f32 without indices: the largest element of each window (a
// NaN counts as such), float32.
#include "kernels/pooling/max.h"

static float best_of(const ember_pool_t *pool, const char *x, ember_max_taps_t rows,
                     ember_max_taps_t columns) {
    const ptrdiff_t step = (ptrdiff_t)pool->dilation[2] * pool->x_steps[4];
    const ptrdiff_t next = (ptrdiff_t)pool->dilation[1] * pool->x_steps[3];
    const char *row = x + (ptrdiff_t)rows.first * pool->x_steps[3] +
                      (ptrdiff_t)columns.first * pool->x_steps[4];
    float best = -__builtin_inff();

    for (int32_t i = rows.first; i < rows.past; i += pool->dilation[1]) {
        const char *item = row;
        for (int32_t j = columns.first; j < columns.past; j += pool->dilation[2]) {
            const float value = *(const float *)(const void *)item;
            best = value > best || value != value ? value : best; // larger, or NaN
            item += step;
        }
        row += next;
    }
    return best;
}

static void row(const ember_max_pool_t *max, const char *x, char *y, int64_t *indices,
                ember_max_taps_t rows) {
    const ember_pool_t *pool = &max->pool;

    (void)indices;
    for (int32_t w = 0; w < pool->out[2]; w++) {
        *(float *)(void *)y = best_of(pool, x, rows, ember_max_taps(pool, 2, w));
        y += pool->y_steps[4];
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_max_prepare_f32(state, node, false);
}

static int32_t run(void *state) {
    ember_max_rows(state, row);
    return EMBER_OK;
}

EMBER_KERNEL(max_pool2d_f32, ember_max_pool_t);
