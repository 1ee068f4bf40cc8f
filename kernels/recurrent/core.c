// SPDX-License-Identifier: Apache-2.0
// Products and gates of recurrent layers in plain C. Contract: recurrent.h.
#include "kernels/recurrent/numbers.h"

static size_t bytes(int32_t inner) {
    (void)inner;
    return 0;
}

static void sums(const ember_products_s8_t *of, const int8_t *a) {
    const int8_t *w = of->weights;

    for (int32_t row = 0; row < of->rows; row++) {
        int32_t sum = 0;
        for (int32_t k = 0; k < of->inner; k++) {
            sum += a[k] * w[k];
        }
        of->sums[row] = sum;
        w += of->inner;
    }
}

static int32_t scaled(int32_t sum, uint32_t shift, int32_t multiplier) {
    const int64_t moved = sum * (1 << shift); // prepare: it fits
    return (int32_t)((moved * multiplier + ((int64_t)1 << 31)) >> 32);
}

static void gates(const ember_gates_task_t *task) {
    for (int32_t j = 0; j < task->count; j++) {
        const int32_t of_x = scaled(task->sums_x[j], task->shift_x, task->by_x[j]);
        const int32_t of_h =
            task->sums_h == NULL
                ? 0
                : scaled(task->sums_h[j], task->shift_h, task->by_h[j]);
        const uint32_t sum = (uint32_t)of_x + (uint32_t)of_h + (uint32_t)task->bias[j];
        task->gates[j] = (int16_t)ember_limited_s16((int32_t)sum >> EMBER_GATE_MORE);
    }
}

const ember_recurrent_core_t ember_recurrent_core = {bytes, sums, gates};
