// SPDX-License-Identifier: Apache-2.0
// Products of four packed filters with two columns of words.
// kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_QUADS_H
#define EMBER_INTRINSICS_ARM_DSP_QUADS_H

#include <arm_dsp.h>

// Words of two columns from `fours` > 0 groups of four elements of each, with `offset`
// added; returns the end of the words. `sums` grow by 128 times those of each column.
static inline uint32_t *ember_widen_two(uint32_t *to, const int8_t *a, const int8_t *b,
                                        int32_t fours, uint32_t offset,
                                        int32_t sums[2]) {
    register uint32_t *r0 __asm__("r0") = to;
    register const int8_t *r1 __asm__("r1") = a;
    register const int8_t *r2 __asm__("r2") = b;
    register uint32_t r3 __asm__("r3") = offset;
    register int32_t r12 __asm__("r12") = fours + 1;
    register int32_t *r14 __asm__("r14") = sums;

    __asm__ volatile("push {r4-r10}\n\t"
                     "ldr r8, [r14]\n\t"
                     "ldr r9, [r14, #4]\n\t"
                     "mov r10, #0x00800080\n\t"
                     "lsrs r12, r12, #1\n\t" // rounds of two; an odd one is skipped
                     "bcc 11f\n\t"
                     "10:\n\t"
                     ".irp four, 11, 12\n\t"
                     "ldr r4, [r1], #4\n\t"
                     "ldr r5, [r2], #4\n\t"
                     "sxtab16 r6, r3, r4\n\t"
                     "sxtab16 r7, r3, r5\n\t"
                     "sxtab16 r4, r3, r4, ror #8\n\t"
                     "sxtab16 r5, r3, r5, ror #8\n\t"
                     "smlad r8, r6, r10, r8\n\t"
                     "smlad r9, r7, r10, r9\n\t"
                     "smlad r8, r4, r10, r8\n\t"
                     "smlad r9, r5, r10, r9\n\t"
                     "str r7, [r0, #4]\n\t"
                     "str r4, [r0, #8]\n\t"
                     "str r5, [r0, #12]\n\t"
                     "str r6, [r0], #16\n\t"
                     "\\four:\n\t"
                     ".endr\n\t"
                     "subs r12, #1\n\t"
                     "bne 10b\n\t"
                     "str r8, [r14]\n\t"
                     "str r9, [r14, #4]\n\t"
                     "pop {r4-r10}"
                     : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r12)
                     : "r"(r3), "r"(r14)
                     : "cc", "memory");
    return r0;
}

// What the sums of four filters begin with, and how they become outputs.
typedef struct ember_quad_dsp {
    int32_t
        bias[4]; // of each pair: the first's and 256 times the second's; the second's
    struct {
        int32_t multiplier, shift; // as in ember_filter_dsp_t
    } by[4];
} ember_quad_dsp_t;

typedef struct ember_quads_dsp {
    const int8_t *w;   // (quad, block, even or odd, pair, two elements, filter)
    const uint32_t *x; // (block, even or odd, column)
    int32_t blocks;    // of four weights; > 0
    const ember_quad_dsp_t *by;
    int32_t quads;   // of filters; > 0
    int8_t *y[2];    // the outputs of each column
    int32_t offset;  // twice the zero point, and 1
    int32_t sums[2]; // 128 times those of the columns
} ember_quads_dsp_t;

// Half a block: the even elements or the odd ones. A word has two elements of a pair of
// filters. As int16 it is 256 times the second and the first, plus 128, and its upper
// bytes are the second alone, so sums of the first are the difference of two. The last
// words of a block are `at` bytes behind these.
#define EMBER_QUADS_HALF_DSP(at, last)                                                 \
    "ldr r2, [r0, #(\\block - 14) * 16 - " at " - 4]\n\t"                              \
    "ldr r12, [r1, #(\\block - 14) * 16 - " at " - 4]\n\t"                             \
    ".if \\block * " last " == 14\n\t"                                                 \
    "ldr r3, [r0], #64\n\t"                                                            \
    "ldr r14, [r1], #64\n\t"                                                           \
    ".else\n\t"                                                                        \
    "ldr r3, [r0, #(\\block - 14) * 16 - " at "]\n\t"                                  \
    "ldr r14, [r1, #(\\block - 14) * 16 - " at "]\n\t"                                 \
    ".endif\n\t"                                                                       \
    "smlad r4, r2, r12, r4\n\t"                                                        \
    "smlad r5, r2, r14, r5\n\t"                                                        \
    "sxtb16 r2, r2, ror #8\n\t"                                                        \
    "smlad r8, r3, r12, r8\n\t"                                                        \
    "smlad r9, r3, r14, r9\n\t"                                                        \
    "sxtb16 r3, r3, ror #8\n\t"                                                        \
    "smlad r6, r2, r12, r6\n\t"                                                        \
    "smlad r7, r2, r14, r7\n\t"                                                        \
    "smlad r10, r3, r12, r10\n\t"                                                      \
    "smlad r11, r3, r14, r11\n\t"

#define EMBER_QUADS_SCALE_DSP(a, b)                                                    \
    "ldmia r14!, {r1, r2}\n\t"                                                         \
    ".irp sum, " a ", " b "\n\t"                                                       \
    "smmlar \\sum, \\sum, r1, \\sum\n\t"                                               \
    "add \\sum, \\sum, \\sum, asr #31\n\t"                                             \
    "asr \\sum, \\sum, r2\n\t"                                                         \
    "add \\sum, r12\n\t"                                                               \
    "ssat \\sum, #8, \\sum, asr #1\n\t"                                                \
    ".endr\n\t"

// One block of assembly, because the inner loop takes all registers. A round is four
// blocks; the first one skips what `blocks` lacks to a multiple of four, so pointers
// begin before what they point to. Sums of both columns are in r4 and r5 for the first
// pair and r6 and r7 for its second filter, in r8 to r11 for the second pair.
static inline void ember_quads_dsp(const ember_quads_dsp_t *tiles) {
    register const ember_quads_dsp_t *r0 __asm__("r0") = tiles;

    __asm__ volatile("push {r4-r11}\n\t"
                     "ldmia r0, {r0-r9}\n\t"
                     "add r14, r4, r4, lsl #1\n\t"
                     "add r14, r3, r14, lsl #4\n\t" // the end of the filters
                     "rsb r12, r2, #0\n\t"
                     "and r12, #3\n\t" // blocks to skip
                     "add r0, #60\n\t"
                     "add r1, #60\n\t"
                     "sub r10, r1, r12, lsl #4\n\t"
                     "add r11, r1, r2, lsl #4\n\t" // the end of the columns
                     "push {r3, r5-r12, r14}\n\t"
                     "1:\n\t"
                     "ldr r2, [sp]\n\t"
                     "ldr r12, [sp, #16]\n\t"
                     "ldr r14, [sp, #20]\n\t"
                     "ldr r1, [sp, #24]\n\t"
                     "ldr r3, [sp, #32]\n\t"
                     "ldmia r2!, {r4, r6, r8, r10}\n\t"
                     "str r2, [sp]\n\t"
                     "sub r5, r4, r14\n\t"
                     "sub r4, r12\n\t"
                     "mov r7, r6\n\t"
                     "sub r9, r8, r14\n\t"
                     "sub r8, r12\n\t"
                     "mov r11, r10\n\t"
                     "sub r0, r0, r3, lsl #4\n\t"
                     "lsls r3, r3, #31\n\t"
                     "bhi 13f\n\t"
                     "bcs 12f\n\t"
                     "bne 11f\n\t"
                     "10:\n\t"
                     ".irp block, 11, 12, 13, 14\n\t" //
                     EMBER_QUADS_HALF_DSP("8", "0")   //
                     EMBER_QUADS_HALF_DSP("0", "1")   //
                     "\\block:\n\t"
                     ".endr\n\t"
                     "ldr r12, [sp, #28]\n\t"
                     "cmp r1, r12\n\t"
                     "bne 10b\n\t"
                     "ldr r14, [sp]\n\t"
                     "ldr r12, [sp, #12]\n\t"
                     "sub r4, r4, r6, lsl #8\n\t"
                     "sub r5, r5, r7, lsl #8\n\t"
                     "sub r8, r8, r10, lsl #8\n\t"
                     "sub r9, r9, r11, lsl #8\n\t"       //
                     EMBER_QUADS_SCALE_DSP("r4", "r5")   //
                     EMBER_QUADS_SCALE_DSP("r6", "r7")   //
                     EMBER_QUADS_SCALE_DSP("r8", "r9")   //
                     EMBER_QUADS_SCALE_DSP("r10", "r11") //
                     "ldr r1, [sp, #4]\n\t"
                     "ldr r2, [sp, #8]\n\t"
                     "ldr r3, [sp, #36]\n\t"
                     "bfi r4, r6, #8, #8\n\t"
                     "bfi r5, r7, #8, #8\n\t"
                     "bfi r4, r8, #16, #8\n\t"
                     "bfi r5, r9, #16, #8\n\t"
                     "bfi r4, r10, #24, #8\n\t"
                     "bfi r5, r11, #24, #8\n\t"
                     "str r4, [r1], #4\n\t"
                     "str r5, [r2], #4\n\t"
                     "str r14, [sp]\n\t"
                     "str r1, [sp, #4]\n\t"
                     "str r2, [sp, #8]\n\t"
                     "cmp r14, r3\n\t"
                     "bne 1b\n\t"
                     "add sp, #40\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_DSP_QUADS_H
