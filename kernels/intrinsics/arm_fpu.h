// SPDX-License-Identifier: Apache-2.0
// Sums of products of float32 in the scalar unit of Cortex-M (FPv4, FPv5), in an order
// that compilers do not keep: loads in groups, and no result used by the next
// instruction. Products and sums are rounded one by one. kernels/models has the same in
// C.
#ifndef EMBER_INTRINSICS_ARM_FPU_H
#define EMBER_INTRINSICS_ARM_FPU_H

#include <arm_fpu_elements.h>
#include <stdint.h>

typedef struct ember_fpu_tile {
    const float *a[4]; // rows, dense
    const float *b;
    int32_t step;  // bytes from one row of b to the next
    int32_t inner; // terms of a sum, >= 0
    float *sums;   // 16
} ember_fpu_tile_t;

typedef struct ember_fpu_row {
    const float *x; // first tap of the first output
    int32_t step;   // bytes from one line of x to the next
    const float *w; // (lines, 3)
    int32_t lines;  // at least one
    float bias;
    float *y;
    int32_t apart; // bytes from one output to the next
    int32_t fours; // of outputs, at least one
} ember_fpu_row_t;

// Adds four products to four sums. A product and a sum take a cycle each on Cortex-M4,
// VMLA three; on Cortex-M7, VMLA takes one.
#define EMBER_FPU_MUL_ADD(S0, S1, S2, S3, X0, X1, X2, X3, Y0, Y1, Y2, Y3)              \
    "vmul.f32 s28, s" #X0 ", s" #Y0 "\n\t"                                             \
    "vmul.f32 s29, s" #X1 ", s" #Y1 "\n\t"                                             \
    "vmul.f32 s30, s" #X2 ", s" #Y2 "\n\t"                                             \
    "vmul.f32 s31, s" #X3 ", s" #Y3 "\n\t"                                             \
    "vadd.f32 s" #S0 ", s" #S0 ", s28\n\t"                                             \
    "vadd.f32 s" #S1 ", s" #S1 ", s29\n\t"                                             \
    "vadd.f32 s" #S2 ", s" #S2 ", s30\n\t"                                             \
    "vadd.f32 s" #S3 ", s" #S3 ", s31\n\t"
#define EMBER_FPU_MLA(S0, S1, S2, S3, X0, X1, X2, X3, Y0, Y1, Y2, Y3)                  \
    "vmla.f32 s" #S0 ", s" #X0 ", s" #Y0 "\n\t"                                        \
    "vmla.f32 s" #S1 ", s" #X1 ", s" #Y1 "\n\t"                                        \
    "vmla.f32 s" #S2 ", s" #X2 ", s" #Y2 "\n\t"                                        \
    "vmla.f32 s" #S3 ", s" #X3 ", s" #Y3 "\n\t"

// The loops, over pairs or fours of terms, and the remaining terms.
#define EMBER_FPU_CLEAR                                                                \
    "movs %[zero], #0\n\t"                                                             \
    "vmov d0, %[zero], %[zero]\n\t"                                                    \
    "vmov d1, %[zero], %[zero]\n\t"                                                    \
    "vmov d2, %[zero], %[zero]\n\t"                                                    \
    "vmov d3, %[zero], %[zero]\n\t"                                                    \
    "vmov d4, %[zero], %[zero]\n\t"                                                    \
    "vmov d5, %[zero], %[zero]\n\t"                                                    \
    "vmov d6, %[zero], %[zero]\n\t"                                                    \
    "vmov d7, %[zero], %[zero]\n\t"
// Products of an element of each of four rows with four of b.
#define EMBER_FPU_TERM(MAC, A0, A1, A2, A3, B0, B1, B2, B3)                            \
    MAC(0, 1, 2, 3, B0, B1, B2, B3, A0, A0, A0, A0)                                    \
    MAC(4, 5, 6, 7, B0, B1, B2, B3, A1, A1, A1, A1)                                    \
    MAC(8, 9, 10, 11, B0, B1, B2, B3, A2, A2, A2, A2)                                  \
    MAC(12, 13, 14, 15, B0, B1, B2, B3, A3, A3, A3, A3)
#define EMBER_FPU_ROWS_LOADS                                                           \
    "vldmia %[a0]!, {s20-s21}\n\t"                                                     \
    "vldmia %[a1]!, {s22-s23}\n\t"                                                     \
    "vldmia %[a2]!, {s24-s25}\n\t"                                                     \
    "vldmia %[a3]!, {s26-s27}\n\t"                                                     \
    "vldmia %[b], {s16-s19}\n\t"                                                       \
    "add %[b], %[step]\n\t"
// Two terms. Sums on Cortex-M4 need the registers that a Cortex-M7, where each group of
// loads waits for the products before it, uses for the second four of b.
#define EMBER_FPU_MUL_ADD_PAIR                                                         \
    EMBER_FPU_ROWS_LOADS                                                               \
    EMBER_FPU_TERM(EMBER_FPU_MUL_ADD, 20, 22, 24, 26, 16, 17, 18, 19)                  \
    "vldmia %[b], {s16-s19}\n\t"                                                       \
    "add %[b], %[step]\n\t" /**/                                                       \
        EMBER_FPU_TERM(EMBER_FPU_MUL_ADD, 21, 23, 25, 27, 16, 17, 18, 19)
#define EMBER_FPU_MLA_PAIR                                                             \
    EMBER_FPU_ROWS_LOADS                                                               \
    "vldmia %[b], {s28-s31}\n\t"                                                       \
    "add %[b], %[step]\n\t" /**/                                                       \
        EMBER_FPU_TERM(EMBER_FPU_MLA, 20, 22, 24, 26, 16, 17, 18, 19)                  \
            EMBER_FPU_TERM(EMBER_FPU_MLA, 21, 23, 25, 27, 28, 29, 30, 31)
// A loop over fours of terms, its end with the start of one over the remaining terms,
// and the end of that.
#define EMBER_FPU_FOURS                                                                \
    "subs %[count], #4\n\t"                                                            \
    "blt 2f\n\t"                                                                       \
    "1:\n\t"
#define EMBER_FPU_REST                                                                 \
    "subs %[count], #4\n\t"                                                            \
    "bge 1b\n\t"                                                                       \
    "2:\n\t"                                                                           \
    "adds %[count], #4\n\t"                                                            \
    "beq 4f\n\t"                                                                       \
    "3:\n\t"
#define EMBER_FPU_END                                                                  \
    "subs %[count], #1\n\t"                                                            \
    "bne 3b\n\t"                                                                       \
    "4:\n\t"
#define EMBER_FPU_PAIRS                                                                \
    "subs %[count], #2\n\t"                                                            \
    "blt 2f\n\t"                                                                       \
    "1:\n\t"                                                                           \
    "subs %[count], #2\n\t"
#define EMBER_FPU_ROWS_LAST                                                            \
    "bge 1b\n\t"                                                                       \
    "2:\n\t"                                                                           \
    "adds %[count], #2\n\t"                                                            \
    "beq 3f\n\t"                                                                       \
    "vldmia %[a0], {s20}\n\t"                                                          \
    "vldmia %[a1], {s22}\n\t"                                                          \
    "vldmia %[a2], {s24}\n\t"                                                          \
    "vldmia %[a3], {s26}\n\t"                                                          \
    "vldmia %[b], {s16-s19}\n\t"
#define EMBER_FPU_ROWS_STORE                                                           \
    "3:\n\t"                                                                           \
    "vstmia %[sums], {s0-s15}"
#define EMBER_FPU_PAIR(MAC) MAC##_PAIR
#define EMBER_FPU_ROWS_4X4(MAC)                                                        \
    EMBER_FPU_CLEAR                                                                    \
    EMBER_FPU_PAIRS                                                                    \
    EMBER_FPU_PAIR(MAC)                                                                \
    EMBER_FPU_ROWS_LAST                                                                \
    EMBER_FPU_TERM(MAC, 20, 22, 24, 26, 16, 17, 18, 19)                                \
    EMBER_FPU_ROWS_STORE

// A term of eight, or twelve, columns: element A of the row.
#define EMBER_FPU_LOAD_8                                                               \
    "vldmia %[b], {s16-s23}\n\t"                                                       \
    "add %[b], %[step]\n\t"
#define EMBER_FPU_TERM_8(MAC, A)                                                       \
    EMBER_FPU_LOAD_8                                                                   \
    MAC(0, 1, 2, 3, 16, 17, 18, 19, A, A, A, A)                                        \
    MAC(4, 5, 6, 7, 20, 21, 22, 23, A, A, A, A)
#define EMBER_FPU_LOAD_12                                                              \
    "vldmia %[b], {s16-s27}\n\t"                                                       \
    "add %[b], %[step]\n\t"
#define EMBER_FPU_TERM_12(MAC, A)                                                      \
    EMBER_FPU_LOAD_12                                                                  \
    MAC(0, 1, 2, 3, 16, 17, 18, 19, A, A, A, A)                                        \
    MAC(4, 5, 6, 7, 20, 21, 22, 23, A, A, A, A)                                        \
    MAC(8, 9, 10, 11, 24, 25, 26, 27, A, A, A, A)
#define EMBER_FPU_ROW_LOAD_4 "vldmia %[a0]!, {s12-s15}\n\t"
#define EMBER_FPU_ROW_LOAD_1 "vldmia %[a0]!, {s12}\n\t"
#define EMBER_FPU_ROW_OF(MAC, TERM)                                                    \
    EMBER_FPU_CLEAR                                                                    \
    EMBER_FPU_FOURS                                                                    \
    EMBER_FPU_ROW_LOAD_4                                                               \
    TERM(MAC, 12)                                                                      \
    TERM(MAC, 13)                                                                      \
    TERM(MAC, 14)                                                                      \
    TERM(MAC, 15)                                                                      \
    EMBER_FPU_REST                                                                     \
    EMBER_FPU_ROW_LOAD_1                                                               \
    TERM(MAC, 12)                                                                      \
    EMBER_FPU_END
#define EMBER_FPU_ROWS_1X8(MAC)                                                        \
    EMBER_FPU_ROW_OF(MAC, EMBER_FPU_TERM_8) "vstmia %[sums], {s0-s7}"
#define EMBER_FPU_ROWS_1X12(MAC)                                                       \
    EMBER_FPU_ROW_OF(MAC, EMBER_FPU_TERM_12) "vstmia %[sums], {s0-s11}"

// Four outputs of a line of three taps: a line of the image, the start, and the end.
#define EMBER_FPU_LINE_3(MAC)                                                          \
    MAC(0, 1, 2, 3, 16, 17, 18, 19, 8, 8, 8, 8)                                        \
    MAC(0, 1, 2, 3, 17, 18, 19, 20, 9, 9, 9, 9)                                        \
    MAC(0, 1, 2, 3, 18, 19, 20, 21, 10, 10, 10, 10)
#define EMBER_FPU_ROW_3_START                                                          \
    "vmov s24, %[zero]\n\t"                                                            \
    "1:\n\t"                                                                           \
    "mov %[x], %[from]\n\t"                                                            \
    "mov %[w], %[weights]\n\t"                                                         \
    "mov %[count], %[lines]\n\t"                                                       \
    "vmov.f32 s0, s24\n\t"                                                             \
    "vmov.f32 s1, s24\n\t"                                                             \
    "vmov.f32 s2, s24\n\t"                                                             \
    "vmov.f32 s3, s24\n\t"                                                             \
    "2:\n\t"                                                                           \
    "vldmia %[x], {s16-s21}\n\t"                                                       \
    "add %[x], %[step]\n\t"                                                            \
    "vldmia %[w]!, {s8-s10}\n\t"
#define EMBER_FPU_ROW_3_END                                                            \
    "subs %[count], #1\n\t"                                                            \
    "bne 2b\n\t"                                                                       \
    "vadd.f32 s0, s0, %[bias]\n\t"                                                     \
    "vadd.f32 s1, s1, %[bias]\n\t"                                                     \
    "vadd.f32 s2, s2, %[bias]\n\t"                                                     \
    "vadd.f32 s3, s3, %[bias]\n\t"                                                     \
    "vstr s0, [%[y]]\n\t"                                                              \
    "add %[y], %[apart]\n\t"                                                           \
    "vstr s1, [%[y]]\n\t"                                                              \
    "add %[y], %[apart]\n\t"                                                           \
    "vstr s2, [%[y]]\n\t"                                                              \
    "add %[y], %[apart]\n\t"                                                           \
    "vstr s3, [%[y]]\n\t"                                                              \
    "add %[y], %[apart]\n\t"                                                           \
    "add %[from], #16\n\t"                                                             \
    "subs %[fours], #1\n\t"                                                            \
    "bne 1b"
#define EMBER_FPU_ROW_3(MAC)                                                           \
    EMBER_FPU_ROW_3_START                                                              \
    EMBER_FPU_LINE_3(MAC)                                                              \
    EMBER_FPU_ROW_3_END

// Four terms of the first two rows and of the others, and one of all.
#define EMBER_FPU_DOTS_FIRST(MAC)                                                      \
    "vldmia %[b]!, {s16-s19}\n\t"                                                      \
    "vldmia %[a0]!, {s20-s23}\n\t"                                                     \
    "vldmia %[a1]!, {s24-s27}\n\t" /**/                                                \
        MAC(0, 1, 2, 3, 20, 21, 22, 23, 16, 17, 18, 19)                                \
            MAC(4, 5, 6, 7, 24, 25, 26, 27, 16, 17, 18, 19)
#define EMBER_FPU_DOTS_SECOND(MAC)                                                     \
    "vldmia %[a2]!, {s20-s23}\n\t"                                                     \
    "vldmia %[a3]!, {s24-s27}\n\t" /**/                                                \
        MAC(8, 9, 10, 11, 20, 21, 22, 23, 16, 17, 18, 19)                              \
            MAC(12, 13, 14, 15, 24, 25, 26, 27, 16, 17, 18, 19)
#define EMBER_FPU_DOTS_REST                                                            \
    "vldmia %[b]!, {s16}\n\t"                                                          \
    "vldmia %[a0]!, {s20}\n\t"                                                         \
    "vldmia %[a1]!, {s21}\n\t"                                                         \
    "vldmia %[a2]!, {s22}\n\t"                                                         \
    "vldmia %[a3]!, {s23}\n\t"
#define EMBER_FPU_DOTS_4(MAC)                                                          \
    EMBER_FPU_CLEAR                                                                    \
    EMBER_FPU_FOURS                                                                    \
    EMBER_FPU_DOTS_FIRST(MAC)                                                          \
    EMBER_FPU_DOTS_SECOND(MAC)                                                         \
    EMBER_FPU_REST                                                                     \
    EMBER_FPU_DOTS_REST                                                                \
    MAC(0, 4, 8, 12, 20, 21, 22, 23, 16, 16, 16, 16)                                   \
    EMBER_FPU_END                                                                      \
    "vstmia %[sums], {s0-s15}"

// Runs one of them. Cores with double precision are Cortex-M7, on which VMLA is fast.
#define EMBER_FPU_ASM(LOOP, TILE, A0, A1, A2, A3, B, COUNT, ZERO)                      \
    __asm__ volatile(LOOP                                                              \
                     : [a0] "+r"(A0), [a1] "+r"(A1), [a2] "+r"(A2), [a3] "+r"(A3),     \
                       [b] "+r"(B), [count] "+r"(COUNT), [zero] "=&r"(ZERO)            \
                     : [step] "r"((TILE)->step), [sums] "r"((TILE)->sums)              \
                     : "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", \
                       "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16",    \
                       "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25",  \
                       "s26", "s27", "s28", "s29", "s30", "s31")
#define EMBER_FPU_RUN(LOOP, TILE)                                                      \
    const float *a0 = (TILE)->a[0], *a1 = (TILE)->a[1], *a2 = (TILE)->a[2],            \
                *a3 = (TILE)->a[3], *b = (TILE)->b;                                    \
    int32_t count = (TILE)->inner, zero;                                               \
    if ((__ARM_FP & 8) != 0) {                                                         \
        EMBER_FPU_ASM(LOOP(EMBER_FPU_MLA), TILE, a0, a1, a2, a3, b, count, zero);      \
    } else {                                                                           \
        EMBER_FPU_ASM(LOOP(EMBER_FPU_MUL_ADD), TILE, a0, a1, a2, a3, b, count, zero);  \
    }

// sums[4 h + p] = the sum over k of a[h][k] * b[k, p]; four columns of b side by side.
static inline void ember_fpu_rows_4x4(const ember_fpu_tile_t *tile) {
    EMBER_FPU_RUN(EMBER_FPU_ROWS_4X4, tile)
}

// sums[p] = the sum over k of a[0][k] * b[k, p], p < 8.
static inline void ember_fpu_rows_1x8(const ember_fpu_tile_t *tile) {
    EMBER_FPU_RUN(EMBER_FPU_ROWS_1X8, tile)
}

// The same, p < 12.
static inline void ember_fpu_rows_1x12(const ember_fpu_tile_t *tile) {
    EMBER_FPU_RUN(EMBER_FPU_ROWS_1X12, tile)
}

// sums[4 h + l] = the sum over k of a[h][k] * b[k], where k % 4 is l; the last inner %
// 4 terms are in l = 0.
static inline void ember_fpu_dots_4(const ember_fpu_tile_t *tile) {
    EMBER_FPU_RUN(EMBER_FPU_DOTS_4, tile)
}

#define EMBER_FPU_ROW_ASM(LOOP, ROW)                                                   \
    const float *from = (ROW)->x, *x, *w;                                              \
    float *y = (ROW)->y;                                                               \
    int32_t fours = (ROW)->fours, count;                                               \
    __asm__ volatile(                                                                  \
        LOOP                                                                           \
        : [from] "+r"(from), [x] "=&r"(x), [w] "=&r"(w), [y] "+r"(y),                  \
          [fours] "+r"(fours), [count] "=&r"(count)                                    \
        : [zero] "r"(0), [weights] "r"((ROW)->w), [lines] "r"((ROW)->lines),           \
          [step] "r"((ROW)->step), [apart] "r"((ROW)->apart), [bias] "t"((ROW)->bias)  \
        : "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",  \
          "s10", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", \
          "s26", "s27", "s28", "s29", "s30", "s31")

// y[4 i + p] = bias + the sum over lines l and t < 3 of w[3 l + t] * x[l][4 i + p + t],
// p < 4, i < fours.
static inline void ember_fpu_row_3(const ember_fpu_row_t *row) {
    if ((__ARM_FP & 8) != 0) {
        EMBER_FPU_ROW_ASM(EMBER_FPU_ROW_3(EMBER_FPU_MLA), row);
    } else {
        EMBER_FPU_ROW_ASM(EMBER_FPU_ROW_3(EMBER_FPU_MUL_ADD), row);
    }
}

#endif // EMBER_INTRINSICS_ARM_FPU_H
