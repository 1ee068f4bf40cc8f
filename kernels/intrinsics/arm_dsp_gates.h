// SPDX-License-Identifier: Apache-2.0
// Sums of two products that become int16. kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_GATES_H
#define EMBER_INTRINSICS_ARM_DSP_GATES_H

#include <arm_dsp.h>

// gates[j] = ssat16((R(x[j] << shift_x, by_x[j]) + R(h[j] << shift_h, by_h[j]) +
// bias[j]) >> 4), where R(a, b) is the upper half of a product, rounded, and sums wrap.
typedef struct ember_gates_dsp {
    const int32_t *x;
    const int32_t *h;
    const int32_t *by_x;
    const int32_t *by_h;
    const int32_t *bias;
    int16_t *gates;
    const int16_t *end; // of gates, a multiple of four > 0 behind them
    int32_t shift_x;
    int32_t shift_h;
} ember_gates_dsp_t;

// One block of assembly, so that loads stand together: a Cortex-M4 takes two cycles for
// the first of them and one for each after it.
static inline void ember_gates_dsp(const ember_gates_dsp_t *task) {
    register const ember_gates_dsp_t *r0 __asm__("r0") = task;

    __asm__ volatile("push {r4-r11}\n\t"
                     "ldmia r0, {r0-r8}\n\t"
                     "1:\n\t"
                     ".rept 4\n\t"
                     "ldr r9, [r0], #4\n\t"
                     "ldr r10, [r1], #4\n\t"
                     "ldr r11, [r2], #4\n\t"
                     "ldr r12, [r3], #4\n\t"
                     "ldr r14, [r4], #4\n\t"
                     "lsl r9, r7\n\t"
                     "smmulr r9, r9, r11\n\t"
                     "lsl r10, r8\n\t"
                     "smmulr r10, r10, r12\n\t"
                     "add r9, r14\n\t"
                     "add r9, r10\n\t"
                     "ssat r9, #16, r9, asr #4\n\t"
                     "strh r9, [r5], #2\n\t"
                     ".endr\n\t"
                     "cmp r5, r6\n\t"
                     "bne 1b\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_DSP_GATES_H
