// SPDX-License-Identifier: Apache-2.0
// Products of transformed filters with transformed tiles. kernels/models has the same
// in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_WINOGRAD_H
#define EMBER_INTRINSICS_ARM_DSP_WINOGRAD_H

#include <stdint.h>

typedef struct ember_winograd_dsp {
    const int16_t *w;  // (16, pairs, 2 filters, 2)
    const uint32_t *x; // (16, pairs, 4 tiles) of int16
    int32_t pairs;     // of channels: a multiple of four; > 0
    int32_t *sums;     // (16, 2 filters, 4 tiles)
} ember_winograd_dsp_t;

// One block of assembly, because the inner loop takes all registers: sums of the first
// filter are in r4 to r7, of the second in r8 to r11. A round is four pairs of
// channels.
static inline void ember_winograd_dsp(const ember_winograd_dsp_t *tiles) {
    register const ember_winograd_dsp_t *r0 __asm__("r0") = tiles;

    __asm__ volatile("push {r4-r11}\n\t"
                     "ldmia r0, {r0-r3}\n\t"
                     "sub sp, #16\n\t"
                     "lsl r4, r2, #4\n\t" // bytes of x at a position
                     "add r5, r1, r4\n\t"
                     "add r6, r1, r4, lsl #4\n\t"
                     "stmia sp, {r3-r6}\n\t"
                     "1:\n\t"
                     ".irp sum, r4, r5, r6, r7, r8, r9, r10, r11\n\t"
                     "mov \\sum, #0\n\t"
                     ".endr\n\t"
                     "2:\n\t"
                     ".irp pair, 0, 1, 2, 3\n\t"
                     "ldr r2, [r0, #\\pair * 8]\n\t"
                     "ldr r3, [r0, #\\pair * 8 + 4]\n\t"
                     "ldr r12, [r1, #\\pair * 16]\n\t"
                     "ldr r14, [r1, #\\pair * 16 + 4]\n\t"
                     "smlad r4, r2, r12, r4\n\t"
                     "smlad r5, r2, r14, r5\n\t"
                     "smlad r8, r3, r12, r8\n\t"
                     "smlad r9, r3, r14, r9\n\t"
                     "ldr r12, [r1, #\\pair * 16 + 8]\n\t"
                     "ldr r14, [r1, #\\pair * 16 + 12]\n\t"
                     "smlad r6, r2, r12, r6\n\t"
                     "smlad r7, r2, r14, r7\n\t"
                     "smlad r10, r3, r12, r10\n\t"
                     "smlad r11, r3, r14, r11\n\t"
                     ".endr\n\t"
                     "add r1, #64\n\t"
                     "ldr r2, [sp, #8]\n\t"
                     "add r0, #32\n\t"
                     "cmp r1, r2\n\t"
                     "bne 2b\n\t"
                     "ldr r12, [sp]\n\t"
                     "ldr r3, [sp, #4]\n\t"
                     "ldr r14, [sp, #12]\n\t"
                     "stmia r12!, {r4-r11}\n\t"
                     "add r2, r3\n\t"
                     "str r12, [sp]\n\t"
                     "cmp r1, r14\n\t"
                     "str r2, [sp, #8]\n\t"
                     "bne 1b\n\t"
                     "add sp, #16\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_DSP_WINOGRAD_H
