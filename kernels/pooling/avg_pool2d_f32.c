// SPDX-License-Identifier: Apache-2.0
// avg_pool2d_f32: means of windows, float32.
#include "kernels/engine/scalar.h"
#include "kernels/pooling/avg.h"

static void one(const void *state, char *x, char *y,
                const int32_t at[EMBER_POOL_DIMS]) {
    const ember_avg_pool_t *s = state;
    ember_pool_box_t box;
    const int64_t divisor = ember_avg_window(s, at, &box);
    const char *row = x + (ptrdiff_t)box.first[1] * s->pool.x_steps[3] +
                      (ptrdiff_t)box.first[2] * s->pool.x_steps[4];
    const ptrdiff_t next = s->pool.x_steps[3], step = s->pool.x_steps[4];
    int32_t rows = box.past[1] - box.first[1];
    int32_t columns = box.past[2] - box.first[2];
    float sum = 0.0f;

    if (columns * step == next) { // whole rows: one
        columns *= rows;
        rows = 1;
    }
    for (; rows > 0; rows--) {
        const char *item = row;
        for (int32_t j = columns; j > 0; j--) {
            sum += *(const float *)(const void *)item;
            item += step;
        }
        row += next;
    }
    *(float *)(void *)y =
        divisor != 0 ? sum / ember_scalar_f32((ember_scalar_t){divisor, EMBER_S64})
                     : sum;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_avg_pool_t *s = state;
    const ember_status_t status = ember_avg_prepare(state, node, 2, false);

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
