// SPDX-License-Identifier: Apache-2.0
// Products and gates of recurrent layers with the DSP instructions. Contract:
// recurrent.h.
#include "kernels/recurrent/numbers.h"

#include <arm_dsp_gates.h>

#include "kernels/engine/dsp/matmul_s8_dsp.h"

static void sums(const ember_products_s8_t *of, const int8_t *a) {
    ember_matmul_s8_dsp_products(of->working, of->inner, a, of->weights, of->rows,
                                 of->sums);
}

static inline int32_t scaled(int32_t sum, uint32_t shift, int32_t multiplier) {
    return ember_smmulr((int32_t)((uint32_t)sum << shift), multiplier);
}

_Static_assert(EMBER_GATE_MORE == 4, "a gate is a sixteenth of its sum");

static inline int16_t gate_of(int32_t of_x, int32_t of_h, int32_t bias) {
    const uint32_t sum = (uint32_t)of_x + (uint32_t)of_h + (uint32_t)bias;
    return (int16_t)ember_ssat16_sixteenth((int32_t)sum);
}

static void gates(const ember_gates_task_t *task) {
    const int32_t *sums_x = task->sums_x, *sums_h = task->sums_h;
    const int32_t *by_x = task->by_x, *by_h = task->by_h, *bias = task->bias;
    const uint32_t shift_x = task->shift_x, shift_h = task->shift_h;
    const int32_t by_four = sums_h != NULL ? task->count & ~3 : 0;
    int16_t *to = task->gates;

    if (by_four > 0) {
        const ember_gates_dsp_t fours = {
            .x = sums_x,
            .h = sums_h,
            .by_x = by_x,
            .by_h = by_h,
            .bias = bias,
            .gates = to,
            .end = to + by_four,
            .shift_x = (int32_t)shift_x,
            .shift_h = (int32_t)shift_h,
        };
        ember_gates_dsp(&fours);
    }
    for (int32_t j = by_four; j < task->count; j++) {
        const int32_t x = scaled(sums_x[j], shift_x, by_x[j]);
        const int32_t h = sums_h == NULL ? 0 : scaled(sums_h[j], shift_h, by_h[j]);
        to[j] = gate_of(x, h, bias[j]);
    }
}

const ember_recurrent_core_t ember_recurrent_core_dsp = {ember_matmul_s8_dsp_bytes,
                                                         sums, gates};
