// SPDX-License-Identifier: Apache-2.0
// Products of matrices of float32 with Helium, in an order that compilers do not keep.
// kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_MVE_FLOATS_H
#define EMBER_INTRINSICS_ARM_MVE_FLOATS_H

#include <stdint.h>

typedef struct ember_mve_block {
    const float *a[3]; // rows, dense
    const float *b;    // rows of eight
    int32_t step;      // bytes from one row of b to the next
    int32_t inner;     // terms of a sum, >= 0
    float *sums;       // (3, 8)
} ember_mve_block_t;

// Products of the elements A0, A1, A2 of the rows with q4 and q5, and what is done
// beside them.
#define EMBER_MVE_TERM(A0, A1, A2, WITH_0, WITH_1, WITH_2, WITH_3, WITH_4, WITH_5)     \
    "vfma.f32 q0, q4, " A0 "\n\t" WITH_0 "vfma.f32 q1, q5, " A0 "\n\t" WITH_1          \
    "vfma.f32 q2, q4, " A1 "\n\t" WITH_2 "vfma.f32 q3, q5, " A1 "\n\t" WITH_3          \
    "vfma.f32 q6, q4, " A2 "\n\t" WITH_4 "vfma.f32 q7, q5, " A2 "\n\t" WITH_5
#define EMBER_MVE_LOW  "vldrw.u32 q4, [r6]\n\t"
#define EMBER_MVE_HIGH "vldrw.u32 q5, [r6, #16]\n\t"
#define EMBER_MVE_NEXT "add r6, r10\n\t"

// sums[i, j] = a[i, :] . b[:, j]: loads and products alternate, so that they overlap;
// what a pair of terms begins with is loaded beside the pair before it.
static inline void ember_mve_multiply_block(const ember_mve_block_t *block) {
    register const ember_mve_block_t *all __asm__("r12") = block;

    __asm__ volatile(
        "ldrd r0, r2, [r12]\n\t"
        "ldrd r3, r6, [r12, #8]\n\t"
        "ldrd r10, r1, [r12, #16]\n\t"
        "vmov.i32 q0, #0\n\t"
        "vmov.i32 q1, #0\n\t"
        "vmov.i32 q2, #0\n\t"
        "vmov.i32 q3, #0\n\t"
        "vmov.i32 q6, #0\n\t"
        "vmov.i32 q7, #0\n\t"
        "lsrs lr, r1, #1\n\t"
        "bcc 1f\n\t"
        "ldr r4, [r0], #4\n\t"
        "ldr r7, [r2], #4\n\t"
        "ldr r9, [r3], #4\n\t" EMBER_MVE_LOW EMBER_MVE_HIGH EMBER_MVE_TERM(
            "r4", "r7", "r9", EMBER_MVE_NEXT, "", "", "", "",
            "") "1:\n\t"
                "cmp lr, #0\n\t"
                "beq 4f\n\t"
                "ldrd r4, r5, [r0], #8\n\t"
                "ldrd r7, r8, [r2], #8\n\t" EMBER_MVE_LOW "subs lr, #1\n\t"
                "beq 3f\n\t"
                "dls lr, lr\n"
                "2:\n\t" EMBER_MVE_TERM("r4", "r7", "r9", EMBER_MVE_HIGH,
                                        "ldrd r9, r11, [r3], #8\n\t", EMBER_MVE_NEXT,
                                        "", EMBER_MVE_LOW, EMBER_MVE_HIGH)
                    EMBER_MVE_TERM(
                        "r5", "r8", "r11", EMBER_MVE_NEXT, "ldrd r4, r5, [r0], #8\n\t",
                        "", "ldrd r7, r8, [r2], #8\n\t", EMBER_MVE_LOW,
                        "") "le lr, 2b\n"
                            "3:\n\t" EMBER_MVE_TERM("r4", "r7", "r9", EMBER_MVE_HIGH,
                                                    "ldrd r9, r11, [r3]\n\t",
                                                    EMBER_MVE_NEXT, "", EMBER_MVE_LOW,
                                                    EMBER_MVE_HIGH)
                                EMBER_MVE_TERM("r5", "r8", "r11", "", "", "", "", "",
                                               "") "4:\n\t"
                                                   "ldr r0, [r12, #24]\n\t"
                                                   "vstrw.32 q0, [r0]\n\t"
                                                   "vstrw.32 q1, [r0, #16]\n\t"
                                                   "vstrw.32 q2, [r0, #32]\n\t"
                                                   "vstrw.32 q3, [r0, #48]\n\t"
                                                   "vstrw.32 q6, [r0, #64]\n\t"
                                                   "vstrw.32 q7, [r0, #80]"
        :
        : "r"(all)
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11",
          "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_MVE_FLOATS_H
