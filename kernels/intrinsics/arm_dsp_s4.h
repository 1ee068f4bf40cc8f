// SPDX-License-Identifier: Apache-2.0
// Products of weights of int4 with the DSP instructions. kernels/models has the same in
// C.
#ifndef EMBER_INTRINSICS_ARM_DSP_S4_H
#define EMBER_INTRINSICS_ARM_DSP_S4_H

#include <stdint.h>

// Pairs of rows and what they are multiplied with.
typedef struct ember_pairs_s4 {
    int32_t *sums;     // (2 pairs,)
    const int8_t *row; // of the first pair
    int32_t pitch;     // bytes from row to row, all of them weights; a multiple of four
    const uint32_t *x; // four words for each word of a row
    int32_t pairs;     // > 0
} ember_pairs_s4_t;

// One word of each row. Loads are grouped for the Cortex-M4.
#define EMBER_STEP_S4                                                                  \
    "ldr r5, [r0], #4\n\t"                                                             \
    "ldr r6, [r1], #4\n\t"                                                             \
    "ldr r8, [r2, #4]\n\t"                                                             \
    "ldr r9, [r2, #8]\n\t"                                                             \
    "ldr r10, [r2, #12]\n\t"                                                           \
    "ldr r7, [r2], #16\n\t"                                                            \
    "and r12, r11, r5, lsl #4\n\t"                                                     \
    "sxtb16 r14, r12\n\t"                                                              \
    "smlad r3, r14, r7, r3\n\t"                                                        \
    "sxtb16 r12, r12, ror #8\n\t"                                                      \
    "smlad r3, r12, r8, r3\n\t"                                                        \
    "sxtb16 r14, r5\n\t"                                                               \
    "smlad r3, r14, r9, r3\n\t"                                                        \
    "sxtb16 r5, r5, ror #8\n\t"                                                        \
    "smlad r3, r5, r10, r3\n\t"                                                        \
    "and r12, r11, r6, lsl #4\n\t"                                                     \
    "sxtb16 r14, r12\n\t"                                                              \
    "smlad r4, r14, r7, r4\n\t"                                                        \
    "sxtb16 r12, r12, ror #8\n\t"                                                      \
    "smlad r4, r12, r8, r4\n\t"                                                        \
    "sxtb16 r14, r6\n\t"                                                               \
    "smlad r4, r14, r9, r4\n\t"                                                        \
    "sxtb16 r6, r6, ror #8\n\t"                                                        \
    "smlad r4, r6, r10, r4\n\t"

// The sums of products of each row with x, whose four words are those for 16 times the
// lower halves of bytes 0 and 2, of 1 and 3, for bytes 0 and 2, and for 1 and 3. Two
// words of a row a turn; of an odd number the first turn has one. The fields of `pairs`
// are lost.
static inline void ember_pairs_s4(ember_pairs_s4_t *pairs) {
    register ember_pairs_s4_t *r12 __asm__("r12") = pairs;

    __asm__ volatile("push {r4-r12}\n\t"
                     "sub sp, #4\n\t"
                     "ldr r0, [r12, #4]\n\t"
                     "ldr r2, [r12, #12]\n\t"
                     "mov r11, #0xF0F0F0F0\n"
                     "1:\n\t"
                     "ldr r12, [sp, #36]\n\t"
                     "ldr r5, [r12, #8]\n\t"
                     "mov r3, #0\n\t"
                     "add r1, r0, r5\n\t"
                     "mov r4, r3\n\t"
                     "str r1, [sp]\n\t"
                     "lsls r5, r5, #29\n\t"
                     "bmi 3f\n"
                     "2:\n\t" EMBER_STEP_S4 "3:\n\t" EMBER_STEP_S4 "ldr r12, [sp]\n\t"
                     "cmp r0, r12\n\t"
                     "bne 2b\n\t"
                     "ldr r12, [sp, #36]\n\t"
                     "ldr r5, [r12]\n\t"
                     "ldr r6, [r12, #8]\n\t"
                     "ldr r7, [r12, #16]\n\t"
                     "strd r3, r4, [r5], #8\n\t"
                     "str r5, [r12]\n\t"
                     "sub r2, r2, r6, lsl #2\n\t"
                     "mov r0, r1\n\t"
                     "subs r7, #1\n\t"
                     "str r7, [r12, #16]\n\t"
                     "bne 1b\n\t"
                     "add sp, #4\n\t"
                     "pop {r4-r12}"
                     : "+r"(r12)
                     :
                     : "r0", "r1", "r2", "r3", "r14", "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_DSP_S4_H
