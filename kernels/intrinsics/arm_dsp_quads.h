// SPDX-License-Identifier: Apache-2.0
// Products of four packed filters with two columns at a time.
// kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_QUADS_H
#define EMBER_INTRINSICS_ARM_DSP_QUADS_H

#include <arm_dsp_real.h>

// What the sums of four filters begin with, and how they become outputs.
typedef struct ember_quad_dsp {
    int32_t
        bias[4]; // of each pair: the first's and 256 times the second's; the second's
    struct {
        int32_t multiplier; // as in ember_filter_dsp_t
        int32_t power;      // 2^32 shifted to the right, at least by two
    } by[4];
} ember_quad_dsp_t;

typedef struct ember_quads_dsp {
    const int8_t *w; // (quad, block, even or odd, pair, two elements, filter)
    uint32_t *words; // (block, even or odd, column), as many as there are blocks
    int32_t blocks;  // of four elements; > 0
    const ember_quad_dsp_t *by;
    int32_t quads;  // of filters; > 0
    int8_t *y[2];   // the outputs of each column
    int32_t offset; // twice the zero point, and 1
    // Rows of elements under the taps of each column, which become words.
    const int8_t *x[2];
    uint32_t x_offset; // added to each half
    int32_t fours;     // of a row; > 0
    int32_t rows;      // > 0
    int32_t skip[2];   // bytes from the end of a row to the next
    // The columns of the next pair lie behind these.
    int32_t pairs;  // of columns; > 0, and 0 afterwards
    int32_t next;   // bytes of x from pair to pair
    int32_t y_skip; // bytes from the end of the outputs to those of the next pair
} ember_quads_dsp_t;

// Half a block: the even elements or the odd ones. A word has two elements of a pair of
// filters. As int16 it is 256 times the second and the first, plus 128, and its upper
// bytes are only the second, so sums of the first are the difference of two. The last
// words of a block are `at` bytes behind these.
#define EMBER_QUADS_HALF_DSP(at, last)                                                 \
    "ldr r2, [r0, #(\\block - 18) * 16 - " at " - 4]\n\t"                              \
    "ldr r12, [r1, #(\\block - 18) * 16 - " at " - 4]\n\t"                             \
    ".if \\block * " last " == 18\n\t"                                                 \
    "ldr r3, [r0], #128\n\t"                                                           \
    "ldr r14, [r1], #128\n\t"                                                          \
    ".else\n\t"                                                                        \
    "ldr r3, [r0, #(\\block - 18) * 16 - " at "]\n\t"                                  \
    "ldr r14, [r1, #(\\block - 18) * 16 - " at "]\n\t"                                 \
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

// Both sums of a filter become outputs, by its multiplier and power.
#define EMBER_QUADS_SCALE_DSP(multiplier, power, a, b)                                 \
    ".irp sum, " a ", " b "\n\t"                                                       \
    "smmlar \\sum, \\sum, " multiplier ", \\sum\n\t"                                   \
    "add \\sum, \\sum, \\sum, asr #31\n\t"                                             \
    "smmla \\sum, \\sum, " power ", r12\n\t"                                           \
    "ssat \\sum, #8, \\sum, asr #1\n\t"                                                \
    ".endr\n\t"

// Both columns become words, and 128 times their sums are set aside; then the sums of
// four filters, before those of the second are taken out of those of the first. A round
// is eight blocks of 112 bytes of code; the first one skips what `blocks` lacks to a
// multiple of eight, so pointers begin before what they point to. Sums of both columns
// are in r4 and r5 for the first pair of filters and r6 and r7 for its second one, in
// r8 to r11 for the second pair; r14 points to what scales the four, r12 is the offset.
#define EMBER_QUADS_SUM_DSP                                                            \
    "push {r4-r11}\n\t"                                                                \
    "mov r14, r0\n\t"                                                                  \
    "ldmia r0, {r1-r8}\n\t"                                                            \
    "sub sp, #48\n\t"                                                                  \
    "rsb r12, r3, #0\n\t"                                                              \
    "and r12, #7\n\t" /* blocks to skip */                                             \
    "rsb r0, r12, r12, lsl #3\n\t"                                                     \
    "lsl r0, r0, #4\n\t"                                                               \
    "adr r1, 10f\n\t"                                                                  \
    "add r0, r1\n\t"                                                                   \
    "orr r0, #1\n\t" /* where the first round begins */                                \
    "str r0, [sp, #4]\n\t"                                                             \
    "str r6, [sp, #8]\n\t"                                                             \
    "str r7, [sp, #12]\n\t"                                                            \
    "str r8, [sp, #16]\n\t"                                                            \
    "add r2, #124\n\t"                                                                 \
    "lsl r12, r12, #4\n\t"                                                             \
    "sub r0, r2, r12\n\t"                                                              \
    "add r2, r2, r3, lsl #4\n\t" /* the end of the words */                            \
    "str r0, [sp, #28]\n\t"                                                            \
    "str r2, [sp, #32]\n\t"                                                            \
    "str r12, [sp, #36]\n\t"                                                           \
    "add r5, r5, r5, lsl #1\n\t"                                                       \
    "add r5, r4, r5, lsl #4\n\t" /* the end of the filters */                          \
    "str r5, [sp, #40]\n\t"                                                            \
    "str r14, [sp, #44]\n\t"                                                           \
    "2:\n\t"                                                                           \
    "ldr r0, [r14, #4]\n\t"                                                            \
    "ldr r1, [r14, #32]\n\t"                                                           \
    "ldr r2, [r14, #36]\n\t"                                                           \
    "ldr r3, [r14, #40]\n\t"                                                           \
    "ldr r12, [r14, #48]\n\t"                                                          \
    "mov r9, #0\n\t"                                                                   \
    "mov r10, #0\n\t"                                                                  \
    "mov r11, #0x00800080\n\t"                                                         \
    "3:\n\t"                                                                           \
    "ldr r4, [r14, #44]\n\t"                                                           \
    "add r4, #1\n\t"                                                                   \
    "lsrs r4, r4, #1\n\t" /* rounds of two; an odd one is skipped */                   \
    "bcc 21f\n\t"                                                                      \
    "4:\n\t"                                                                           \
    ".irp four, 21, 22\n\t"                                                            \
    "ldr r5, [r1], #4\n\t"                                                             \
    "ldr r6, [r2], #4\n\t"                                                             \
    "sxtab16 r7, r3, r5\n\t"                                                           \
    "sxtab16 r8, r3, r6\n\t"                                                           \
    "sxtab16 r5, r3, r5, ror #8\n\t"                                                   \
    "sxtab16 r6, r3, r6, ror #8\n\t"                                                   \
    "smlad r9, r7, r11, r9\n\t"                                                        \
    "smlad r10, r8, r11, r10\n\t"                                                      \
    "smlad r9, r5, r11, r9\n\t"                                                        \
    "smlad r10, r6, r11, r10\n\t"                                                      \
    "str r8, [r0, #4]\n\t"                                                             \
    "str r5, [r0, #8]\n\t"                                                             \
    "str r6, [r0, #12]\n\t"                                                            \
    "str r7, [r0], #16\n\t"                                                            \
    "\\four:\n\t"                                                                      \
    ".endr\n\t"                                                                        \
    "subs r4, #1\n\t"                                                                  \
    "bne 4b\n\t"                                                                       \
    "ldr r7, [r14, #52]\n\t"                                                           \
    "ldr r8, [r14, #56]\n\t"                                                           \
    "add r1, r7\n\t"                                                                   \
    "add r2, r8\n\t"                                                                   \
    "subs r12, #1\n\t"                                                                 \
    "bne 3b\n\t"                                                                       \
    "ldr r0, [r14]\n\t"                                                                \
    "ldr r1, [r14, #12]\n\t"                                                           \
    "str r9, [sp, #20]\n\t"                                                            \
    "str r10, [sp, #24]\n\t"                                                           \
    "add r0, #124\n\t"                                                                 \
    "str r1, [sp]\n\t"                                                                 \
    "1:\n\t"                                                                           \
    "ldr r2, [sp]\n\t"                                                                 \
    "ldr r12, [sp, #20]\n\t"                                                           \
    "ldr r14, [sp, #24]\n\t"                                                           \
    "ldr r1, [sp, #28]\n\t"                                                            \
    "ldr r3, [sp, #36]\n\t"                                                            \
    "ldr r4, [r2]\n\t"                                                                 \
    "ldr r6, [r2, #4]\n\t"                                                             \
    "ldr r8, [r2, #8]\n\t"                                                             \
    "ldr r10, [r2, #12]\n\t"                                                           \
    "ldr r2, [sp, #4]\n\t"                                                             \
    "sub r0, r3\n\t"                                                                   \
    "sub r5, r4, r14\n\t"                                                              \
    "sub r4, r12\n\t"                                                                  \
    "mov r7, r6\n\t"                                                                   \
    "sub r9, r8, r14\n\t"                                                              \
    "sub r8, r12\n\t"                                                                  \
    "mov r11, r10\n\t"                                                                 \
    "bx r2\n\t"                                                                        \
    ".balign 4\n\t"                                                                    \
    "10:\n\t"                                                                          \
    ".irp block, 11, 12, 13, 14, 15, 16, 17, 18\n\t" EMBER_QUADS_HALF_DSP("8", "0")    \
        EMBER_QUADS_HALF_DSP("0", "1") ".endr\n\t"                                     \
                                       "ldr r12, [sp, #32]\n\t"                        \
                                       "cmp r1, r12\n\t"                               \
                                       "bne 10b\n\t"                                   \
                                       "ldr r14, [sp]\n\t"                             \
                                       "ldr r12, [sp, #16]\n\t"

#define EMBER_QUADS_APART_DSP                                                          \
    "sub r4, r4, r6, lsl #8\n\t"                                                       \
    "sub r5, r5, r7, lsl #8\n\t"                                                       \
    "sub r8, r8, r10, lsl #8\n\t"                                                      \
    "sub r9, r9, r11, lsl #8\n\t"

// Outputs become words, r4 and r5, and move to the next four filters.
#define EMBER_QUADS_PACK_DSP                                                           \
    "ldr r1, [sp, #8]\n\t"                                                             \
    "ldr r2, [sp, #12]\n\t"                                                            \
    "ldr r3, [sp, #40]\n\t"                                                            \
    "add r14, #48\n\t"                                                                 \
    "bfi r4, r8, #16, #8\n\t"                                                          \
    "bfi r5, r9, #16, #8\n\t"                                                          \
    "bfi r4, r10, #24, #8\n\t"                                                         \
    "bfi r5, r11, #24, #8\n\t"

// From there to the next four filters, or the next columns.
#define EMBER_QUADS_CLOSE_DSP                                                          \
    "str r4, [r1], #4\n\t"                                                             \
    "str r5, [r2], #4\n\t"                                                             \
    "str r14, [sp]\n\t"                                                                \
    "str r1, [sp, #8]\n\t"                                                             \
    "str r2, [sp, #12]\n\t"                                                            \
    "cmp r14, r3\n\t"                                                                  \
    "bne 1b\n\t"                                                                       \
    "ldr r14, [sp, #44]\n\t"                                                           \
    "ldr r3, [r14, #60]\n\t"                                                           \
    "ldr r4, [r14, #64]\n\t"                                                           \
    "ldr r5, [r14, #32]\n\t"                                                           \
    "ldr r6, [r14, #36]\n\t"                                                           \
    "ldr r7, [r14, #68]\n\t"                                                           \
    "add r5, r4\n\t"                                                                   \
    "add r6, r4\n\t"                                                                   \
    "add r1, r7\n\t"                                                                   \
    "add r2, r7\n\t"                                                                   \
    "subs r3, #1\n\t"                                                                  \
    "str r5, [r14, #32]\n\t"                                                           \
    "str r6, [r14, #36]\n\t"                                                           \
    "str r3, [r14, #60]\n\t"                                                           \
    "str r1, [sp, #8]\n\t"                                                             \
    "str r2, [sp, #12]\n\t"                                                            \
    "bne 2b\n\t"                                                                       \
    "add sp, #48\n\t"                                                                  \
    "pop {r4-r11}"

// One block of assembly, because the inner loop takes all registers.
static inline void ember_quads_dsp(ember_quads_dsp_t *tiles) {
    register ember_quads_dsp_t *r0 __asm__("r0") = tiles;

    __asm__ volatile(
        EMBER_QUADS_SUM_DSP
        "ldr r1, [r14, #16]\n\t"
        "ldr r2, [r14, #20]\n\t"
        "ldr r3, [r14, #24]\n\t" EMBER_QUADS_APART_DSP EMBER_QUADS_SCALE_DSP(
            "r1", "r2", "r4",
            "r5") "ldr r1, [r14, #28]\n\t"
                  "ldr r2, [r14, #32]\n\t" EMBER_QUADS_SCALE_DSP(
                      "r3", "r1", "r6",
                      "r7") "bfi r4, r6, #8, #8\n\t"
                            "bfi r5, r7, #8, #8\n\t"
                            "ldr r1, [r14, #36]\n\t"
                            "ldr r3, [r14, #40]\n\t"
                            "ldr r6, [r14, #44]\n\t" EMBER_QUADS_SCALE_DSP("r2", "r1",
                                                                           "r8", "r9")
                                EMBER_QUADS_SCALE_DSP("r3", "r6", "r10", "r11")
                                    EMBER_QUADS_PACK_DSP EMBER_QUADS_CLOSE_DSP
        : "+r"(r0)
        :
        : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

// Sums that are scaled in float32, as arm_dsp_real.h has it. Of what the filters are
// scaled by only the biases count; the offset is the zero point.
#ifdef __ARM_FP
static inline void ember_quads_real_dsp(ember_quads_dsp_t *tiles,
                                        const ember_real_dsp_t *by) {
    register ember_quads_dsp_t *r0 __asm__("r0") = tiles;
    register float s0 __asm__("s0") = by->scale;
    register float s1 __asm__("s1") = by->inverse;

    __asm__ volatile(EMBER_QUADS_SUM_DSP EMBER_QUADS_APART_DSP EMBER_REAL_EIGHT_DSP
                     "bfi r4, r6, #8, #8\n\t"
                     "bfi r5, r7, #8, #8\n\t" EMBER_QUADS_PACK_DSP EMBER_QUADS_CLOSE_DSP
                     : "+r"(r0)
                     : "t"(s0), "t"(s1)
                     : "r1", "r2", "r3", "r12", "lr", "s2", "s3", "s4", "s5", "s6",
                       "s7", "s8", "s9", "cc", "memory");
}
#else // products in float32 are calls
// The sums of four filters with both columns become eight numbers, the first of which
// stands for the outputs of the first column, the second for those of the other.
static inline void ember_quads_sums_dsp(ember_quads_dsp_t *tiles) {
    register ember_quads_dsp_t *r0 __asm__("r0") = tiles;

    __asm__ volatile(EMBER_QUADS_SUM_DSP EMBER_QUADS_APART_DSP
                     "ldr r1, [sp, #8]\n\t"
                     "ldr r2, [sp, #12]\n\t"
                     "ldr r3, [sp, #40]\n\t"
                     "add r14, #48\n\t"
                     "stmia r1, {r4-r11}\n\t" EMBER_QUADS_CLOSE_DSP
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

static inline void ember_quads_real_dsp(ember_quads_dsp_t *tiles,
                                        const ember_real_dsp_t *by) {
    for (; tiles->pairs > 0; tiles->pairs--) {
        for (int32_t quad = 0; quad < tiles->quads; quad++) {
            int32_t sums[8];
            ember_quads_dsp_t four = *tiles;
            four.w += quad * tiles->blocks * 16;
            four.by += quad;
            four.quads = 1;
            four.pairs = 1;
            four.y[0] = (int8_t *)sums;
            four.y[1] = (int8_t *)(sums + 1);
            ember_quads_sums_dsp(&four);
            for (int32_t i = 0; i < 4; i++) {
                ember_real_pair_dsp(&sums[2 * i], &sums[2 * i + 1], by);
                tiles->y[0][4 * quad + i] = (int8_t)sums[2 * i];
                tiles->y[1][4 * quad + i] = (int8_t)sums[2 * i + 1];
            }
        }
        for (int32_t n = 0; n < 2; n++) {
            tiles->x[n] += tiles->next;
            tiles->y[n] += 4 * tiles->quads + tiles->y_skip;
        }
    }
}
#endif

#endif // EMBER_INTRINSICS_ARM_DSP_QUADS_H
