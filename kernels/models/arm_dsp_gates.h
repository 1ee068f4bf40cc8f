// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_gates.h in C.
#ifndef EMBER_MODELS_ARM_DSP_GATES_H
#define EMBER_MODELS_ARM_DSP_GATES_H

#include <arm_dsp.h>

typedef struct ember_gates_dsp {
    const int32_t *x;
    const int32_t *h;
    const int32_t *by_x;
    const int32_t *by_h;
    const int32_t *bias;
    int16_t *gates;
    const int16_t *end;
    int32_t shift_x;
    int32_t shift_h;
} ember_gates_dsp_t;

static inline int32_t ember_gate_part(int32_t sum, int32_t shift, int32_t by) {
    return ember_smmulr((int32_t)((uint32_t)sum << shift), by);
}

static inline void ember_gates_dsp(const ember_gates_dsp_t *task) {
    int16_t *to = task->gates;

    for (int32_t j = 0; to != task->end; j++) {
        const int32_t x = ember_gate_part(task->x[j], task->shift_x, task->by_x[j]);
        const int32_t h = ember_gate_part(task->h[j], task->shift_h, task->by_h[j]);
        const uint32_t sum = (uint32_t)x + (uint32_t)h + (uint32_t)task->bias[j];
        *to++ = (int16_t)ember_ssat16_sixteenth((int32_t)sum);
    }
}

#endif // EMBER_MODELS_ARM_DSP_GATES_H
