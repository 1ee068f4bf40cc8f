// SPDX-License-Identifier: Apache-2.0
// max_pool2d_with_indices_f32: the largest element of each window (a NaN counts as
// such) and its index in the plane, float32.
#include "kernels/pooling/max.h"

typedef struct {
    float value;
    int32_t index;
} best_t;

static best_t best_of(const ember_pool_t *pool, const char *x, ember_max_taps_t rows,
                      ember_max_taps_t columns) {
    best_t best = {-__builtin_inff(), rows.first * pool->in[2] + columns.first};

    for (int32_t i = rows.first; i < rows.past; i += pool->dilation[1]) {
        const char *row = x + (ptrdiff_t)i * pool->x_steps[3];
        for (int32_t j = columns.first; j < columns.past; j += pool->dilation[2]) {
            const char *item = row + (ptrdiff_t)j * pool->x_steps[4];
            const float value = *(const float *)(const void *)item;
            if (value > best.value || value != value) { // larger, or NaN
                best = (best_t){value, i * pool->in[2] + j};
            }
        }
    }
    return best;
}

static void row(const ember_max_pool_t *max, const char *x, char *y, int64_t *indices,
                ember_max_taps_t rows) {
    const ember_pool_t *pool = &max->pool;
    const ptrdiff_t index_step = pool->y_steps[4] / (ptrdiff_t)sizeof(float);

    for (int32_t w = 0; w < pool->out[2]; w++) {
        const best_t best = best_of(pool, x, rows, ember_max_taps(pool, 2, w));
        *(float *)(void *)y = best.value;
        *indices = best.index;
        y += pool->y_steps[4];
        indices += index_step;
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_max_prepare_f32(state, node, true);
}

static int32_t run(void *state) {
    ember_max_rows(state, row);
    return EMBER_OK;
}

EMBER_KERNEL(max_pool2d_with_indices_f32, ember_max_pool_t);
