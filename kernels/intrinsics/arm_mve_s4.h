// SPDX-License-Identifier: Apache-2.0
// Products of weights of int4 with Helium. kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_MVE_S4_H
#define EMBER_INTRINSICS_ARM_MVE_S4_H

#include <arm_mve.h>

// Fours of rows and what they are multiplied with.
typedef struct ember_fours_s4 {
    int32_t *sums;        // (4 fours,)
    const int32_t *first; // (4 fours,) what the sums start from
    const int8_t *row;    // of the first four
    const int8_t *x;
    int32_t pitch;  // bytes from row to row
    int32_t blocks; // of a row, 16 bytes each; > 0
    int32_t fours;  // > 0
} ember_fours_s4_t;

// The sums of products of each row with x: of the lower halves of 16 bytes with 16
// elements, of the upper ones with the next 16. The order is one in which the
// Cortex-M55 waits for nothing; the last load of a turn is that of the next one, or is
// not used.
static inline void ember_fours_s4(const ember_fours_s4_t *fours) {
    register const ember_fours_s4_t *r0 __asm__("r0") = fours;

    __asm__ volatile("ldrd r2, r3, [r0, #8]\n\t"
                     "ldrd r11, r6, [r0, #16]\n\t"
                     "ldr r12, [r0, #24]\n\t"
                     "ldrd r0, r1, [r0]\n\t"
                     "add r5, r2, r11\n\t"
                     "add r7, r5, r11\n\t"
                     "add r9, r7, r11\n\t"
                     "lsl r11, r11, #2\n\t"
                     "sub r11, r11, r6, lsl #4\n\t"
                     "lsl r8, r6, #5\n\t"
                     "push {r6, r8}\n"
                     "1:\n\t"
                     "ldr r14, [sp]\n\t"
                     "ldrd r4, r6, [r1], #8\n\t"
                     "vldrb.8 q3, [r2], #16\n\t"
                     "ldrd r8, r10, [r1], #8\n\t"
                     "dls lr, r14\n"
                     "2:\n\t"
                     "vldrb.8 q0, [r3], #16\n\t"
                     "vshl.i8 q5, q3, #4\n\t"
                     "vldrb.8 q1, [r3], #16\n\t"
                     "vmladava.s8 r4, q5, q0\n\t"
                     "vldrb.8 q4, [r5], #16\n\t"
                     "vmladava.s8 r4, q3, q1\n\t"
                     "vshl.i8 q6, q4, #4\n\t"
                     "vldrb.8 q3, [r7], #16\n\t"
                     "vmladava.s8 r6, q4, q1\n\t"
                     "vshl.i8 q5, q3, #4\n\t"
                     "vmladava.s8 r6, q6, q0\n\t"
                     "vldrb.8 q4, [r9], #16\n\t"
                     "vmladava.s8 r8, q3, q1\n\t"
                     "vshl.i8 q6, q4, #4\n\t"
                     "vmladava.s8 r8, q5, q0\n\t"
                     "vldrb.8 q3, [r2], #16\n\t"
                     "vmladava.s8 r10, q4, q1\n\t"
                     "vmladava.s8 r10, q6, q0\n\t"
                     "le lr, 2b\n\t"
                     "strd r4, r6, [r0], #8\n\t"
                     "ldr r4, [sp, #4]\n\t"
                     "strd r8, r10, [r0], #8\n\t"
                     "sub r2, #16\n\t"
                     "sub r3, r4\n\t"
                     "add r2, r11\n\t"
                     "add r5, r11\n\t"
                     "add r7, r11\n\t"
                     "add r9, r11\n\t"
                     "subs r12, #1\n\t"
                     "bne 1b\n\t"
                     "add sp, #8"
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10",
                       "r11", "r12", "lr", "q0", "q1", "q3", "q4", "q5", "q6", "cc",
                       "memory");
}

#endif // EMBER_INTRINSICS_ARM_MVE_S4_H
