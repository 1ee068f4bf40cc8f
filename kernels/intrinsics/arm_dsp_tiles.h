// SPDX-License-Identifier: Apache-2.0
// Products of filters with columns of words, and of rows with one column.
// kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_TILES_H
#define EMBER_INTRINSICS_ARM_DSP_TILES_H

#include <arm_dsp_real.h>

// Products of filters with three columns of words.
typedef struct ember_tiles_dsp {
    const int8_t *w;   // of the first filter
    const uint32_t *x; // (block, even or odd, column), as ember_add_four() has
    int32_t pitch;     // bytes from filter to filter
    int32_t blocks;    // of four weights; > 0
    const ember_filter_dsp_t *by; // of the first filter
    int32_t pairs;                // of filters; > 0
    int8_t *y[3];                 // the outputs of each column
    int32_t offset;               // twice the zero point, and 1
} ember_tiles_dsp_t;

// One block of four weights. Loads are grouped for the Cortex-M4: it takes two cycles
// for the first and one for each after it, but one more than their number for those of
// LDM. A Cortex-M7, the only Armv7E-M core with double precision, issues a load and a
// product at once.
#if __ARM_ARCH == 7 && defined(__ARM_FP) && (__ARM_FP & 8) != 0
#define EMBER_TILES_BLOCK_DSP                                                          \
    "ldr r12, [r0, #(\\block - 14) * 4]\n\t"                                           \
    "ldr r5, [r1, #(\\block - 14) * 24 - 16]\n\t"                                      \
    "sxtb16 r12, r12\n\t"                                                              \
    "ldr r4, [r1, #(\\block - 14) * 24 - 20]\n\t"                                      \
    ".if \\block == 14\n\t"                                                            \
    "ldr r3, [r2], #16\n\t"                                                            \
    ".else\n\t"                                                                        \
    "ldr r3, [r2, #(\\block - 14) * 4]\n\t"                                            \
    ".endif\n\t"                                                                       \
    "smlad r8, r12, r5, r8\n\t"                                                        \
    "ldr r6, [r1, #(\\block - 14) * 24 - 12]\n\t"                                      \
    "smlad r7, r12, r4, r7\n\t"                                                        \
    "smlad r9, r12, r6, r9\n\t"                                                        \
    "sxtb16 r12, r3\n\t"                                                               \
    "sxtb16 r3, r3, ror #8\n\t"                                                        \
    "smlad r10, r12, r4, r10\n\t"                                                      \
    "ldr r4, [r1, #(\\block - 14) * 24 - 8]\n\t"                                       \
    "smlad r11, r12, r5, r11\n\t"                                                      \
    "ldr r5, [r1, #(\\block - 14) * 24 - 4]\n\t"                                       \
    "smlad r14, r12, r6, r14\n\t"                                                      \
    ".if \\block == 14\n\t"                                                            \
    "ldr r6, [r1], #96\n\t"                                                            \
    ".else\n\t"                                                                        \
    "ldr r6, [r1, #(\\block - 14) * 24]\n\t"                                           \
    ".endif\n\t"                                                                       \
    "smlad r11, r3, r5, r11\n\t"                                                       \
    ".if \\block == 14\n\t"                                                            \
    "ldr r12, [r0], #16\n\t"                                                           \
    ".else\n\t"                                                                        \
    "ldr r12, [r0, #(\\block - 14) * 4]\n\t"                                           \
    ".endif\n\t"                                                                       \
    "smlad r10, r3, r4, r10\n\t"                                                       \
    "sxtb16 r12, r12, ror #8\n\t"                                                      \
    "smlad r14, r3, r6, r14\n\t"                                                       \
    "smlad r7, r12, r4, r7\n\t"                                                        \
    "smlad r8, r12, r5, r8\n\t"                                                        \
    "smlad r9, r12, r6, r9\n\t"
#else
#define EMBER_TILES_BLOCK_DSP                                                          \
    ".if \\block == 14\n\t"                                                            \
    "ldr r3, [r2], #16\n\t"                                                            \
    ".else\n\t"                                                                        \
    "ldr r3, [r2, #(\\block - 14) * 4]\n\t"                                            \
    ".endif\n\t"                                                                       \
    "ldr r12, [r0, #(\\block - 14) * 4]\n\t"                                           \
    "ldr r4, [r1, #(\\block - 14) * 24 - 20]\n\t"                                      \
    "ldr r5, [r1, #(\\block - 14) * 24 - 16]\n\t"                                      \
    "ldr r6, [r1, #(\\block - 14) * 24 - 12]\n\t"                                      \
    "sxtb16 r12, r12\n\t"                                                              \
    "smlad r7, r12, r4, r7\n\t"                                                        \
    "smlad r8, r12, r5, r8\n\t"                                                        \
    "smlad r9, r12, r6, r9\n\t"                                                        \
    "sxtb16 r12, r3\n\t"                                                               \
    "sxtb16 r3, r3, ror #8\n\t"                                                        \
    "smlad r10, r12, r4, r10\n\t"                                                      \
    "smlad r11, r12, r5, r11\n\t"                                                      \
    "smlad r14, r12, r6, r14\n\t"                                                      \
    "ldr r4, [r1, #(\\block - 14) * 24 - 8]\n\t"                                       \
    "ldr r5, [r1, #(\\block - 14) * 24 - 4]\n\t"                                       \
    ".if \\block == 14\n\t"                                                            \
    "ldr r12, [r0], #16\n\t"                                                           \
    ".else\n\t"                                                                        \
    "ldr r12, [r0, #(\\block - 14) * 4]\n\t"                                           \
    ".endif\n\t"                                                                       \
    ".if \\block == 14\n\t"                                                            \
    "ldr r6, [r1], #96\n\t"                                                            \
    ".else\n\t"                                                                        \
    "ldr r6, [r1, #(\\block - 14) * 24]\n\t"                                           \
    ".endif\n\t"                                                                       \
    "sxtb16 r12, r12, ror #8\n\t"                                                      \
    "smlad r10, r3, r4, r10\n\t"                                                       \
    "smlad r11, r3, r5, r11\n\t"                                                       \
    "smlad r14, r3, r6, r14\n\t"                                                       \
    "smlad r7, r12, r4, r7\n\t"                                                        \
    "smlad r8, r12, r5, r8\n\t"                                                        \
    "smlad r9, r12, r6, r9\n\t"
#endif

// From the fields of a task in r0-r5, where r5 is the end of the filters: r14 becomes
// the blocks to skip, r3 the blocks of all rounds, r10 the end of the columns, r11 the
// bytes from the end of a pair to the next. They and r4-r9 form the frame on the stack,
// r3 the filters.
#define EMBER_TILES_OPEN_DSP                                                           \
    "rsb r12, r3, #0\n\t"                                                              \
    "and r14, r12, #3\n\t"                                                             \
    "add r3, r14\n\t"                                                                  \
    "add r10, r3, r3, lsl #1\n\t"                                                      \
    "add r11, r14, r14, lsl #1\n\t"                                                    \
    "add r1, #92\n\t"                                                                  \
    "sub r1, r1, r11, lsl #3\n\t"                                                      \
    "add r10, r1, r10, lsl #3\n\t"                                                     \
    "add r0, #12\n\t"                                                                  \
    "sub r0, r0, r14, lsl #2\n\t"                                                      \
    "lsl r11, r2, #1\n\t"                                                              \
    "sub r11, r11, r3, lsl #2\n\t"                                                     \
    "add r2, r0\n\t"                                                                   \
    "push {r1, r4-r12}\n\t"                                                            \
    "mov r3, r4\n\t"

// The sums r7-r9 and r10, r11, r14 of a pair, which start with r7 and r10.
#define EMBER_TILES_LOOP_DSP                                                           \
    "ldr r12, [sp, #36]\n\t"                                                           \
    "mov r8, r7\n\t"                                                                   \
    "mov r9, r7\n\t"                                                                   \
    "mov r11, r10\n\t"                                                                 \
    "mov r14, r10\n\t"                                                                 \
    "lsls r12, r12, #31\n\t"                                                           \
    "bhi 13f\n\t"                                                                      \
    "bcs 12f\n\t"                                                                      \
    "bne 11f\n\t"                                                                      \
    "10:\n\t"                                                                          \
    ".irp block, 11, 12, 13, 14\n\t" EMBER_TILES_BLOCK_DSP "\\block:\n\t"              \
    ".endr\n\t"                                                                        \
    "ldr r12, [sp, #28]\n\t"                                                           \
    "cmp r1, r12\n\t"                                                                  \
    "bne 10b\n\t"

// The next pair, whose outputs r4-r6 point to, or the end. A filter takes half of
// `bytes` in addition to r3.
#define EMBER_TILES_CLOSE_DSP(bytes)                                                   \
    "ldr r7, [sp, #8]\n\t"                                                             \
    "add r3, #" bytes "\n\t"                                                           \
    "str r4, [sp, #12]\n\t"                                                            \
    "str r5, [sp, #16]\n\t"                                                            \
    "str r6, [sp, #20]\n\t"                                                            \
    "str r3, [sp, #4]\n\t"                                                             \
    "add r0, r12\n\t"                                                                  \
    "add r2, r12\n\t"                                                                  \
    "cmp r3, r7\n\t"                                                                   \
    "bne 1b\n\t"                                                                       \
    "add sp, #40\n\t"                                                                  \
    "pop {r4-r11}"

// The sums r7-r9 and r10, r11, r14 of a pair of filters become outputs.
#define EMBER_TILES_SCALE_DSP                                                          \
    "ldr r3, [sp, #4]\n\t"                                                             \
    "ldr r12, [sp, #24]\n\t"                                                           \
    "ldr r4, [r3, #4]\n\t"                                                             \
    "ldr r5, [r3, #8]\n\t"                                                             \
    ".irp sum, r7, r8, r9\n\t"                                                         \
    "smmlar \\sum, \\sum, r4, \\sum\n\t"                                               \
    ".endr\n\t"                                                                        \
    ".irp sum, r7, r8, r9\n\t"                                                         \
    "add \\sum, \\sum, \\sum, asr #31\n\t"                                             \
    ".endr\n\t"                                                                        \
    ".irp sum, r7, r8, r9\n\t"                                                         \
    "asr \\sum, \\sum, r5\n\t"                                                         \
    "add \\sum, \\sum, r12\n\t"                                                        \
    ".endr\n\t"                                                                        \
    "ldr r4, [r3, #16]\n\t"                                                            \
    "ldr r5, [r3, #20]\n\t"                                                            \
    ".irp sum, r10, r11, r14\n\t"                                                      \
    "smmlar \\sum, \\sum, r4, \\sum\n\t"                                               \
    ".endr\n\t"                                                                        \
    ".irp sum, r10, r11, r14\n\t"                                                      \
    "add \\sum, \\sum, \\sum, asr #31\n\t"                                             \
    ".endr\n\t"                                                                        \
    ".irp sum, r10, r11, r14\n\t"                                                      \
    "asr \\sum, \\sum, r5\n\t"                                                         \
    "add \\sum, \\sum, r12\n\t"                                                        \
    ".endr\n\t"                                                                        \
    ".irp sum, r7, r10, r8, r11, r9, r14\n\t"                                          \
    "ssat \\sum, #8, \\sum, asr #1\n\t"                                                \
    ".endr\n\t"

// The same in float32.
#define EMBER_TILES_REAL_DSP                                                           \
    "vmov s2, s3, r7, r10\n\t"                                                         \
    "vmov s4, s5, r8, r11\n\t"                                                         \
    "vmov s6, s7, r9, r14\n\t"                                                         \
    "ldr r3, [sp, #4]\n\t"                                                             \
    "ldr r12, [sp, #24]\n\t"                                                           \
    ".irp real, s2, s3, s4, s5, s6, s7\n\t"                                            \
    "vcvt.f32.s32 \\real, \\real\n\t"                                                  \
    ".endr\n\t"                                                                        \
    ".irp real, s2, s3, s4, s5, s6, s7\n\t"                                            \
    "vmul.f32 \\real, \\real, s0\n\t"                                                  \
    ".endr\n\t"                                                                        \
    ".irp real, s2, s3, s4, s5, s6, s7\n\t"                                            \
    "vmul.f32 \\real, \\real, s1\n\t"                                                  \
    ".endr\n\t"                                                                        \
    ".irp real, s2, s3, s4, s5, s6, s7\n\t"                                            \
    "vcvtr.s32.f32 \\real, \\real\n\t"                                                 \
    ".endr\n\t"                                                                        \
    "vmov r7, r10, s2, s3\n\t"                                                         \
    "vmov r8, r11, s4, s5\n\t"                                                         \
    "vmov r9, r14, s6, s7\n\t"                                                         \
    ".irp sum, r7, r10, r8, r11, r9, r14\n\t"                                          \
    "qadd \\sum, \\sum, r12\n\t"                                                       \
    ".endr\n\t"                                                                        \
    ".irp sum, r7, r10, r8, r11, r9, r14\n\t"                                          \
    "ssat \\sum, #8, \\sum\n\t"                                                        \
    ".endr\n\t"

// From there to the next pair.
#define EMBER_TILES_STORE_DSP                                                          \
    "ldr r4, [sp, #12]\n\t"                                                            \
    "ldr r5, [sp, #16]\n\t"                                                            \
    "ldr r6, [sp, #20]\n\t"                                                            \
    "ldr r12, [sp, #32]\n\t"                                                           \
    "ldr r1, [sp]\n\t"                                                                 \
    "bfi r7, r10, #8, #8\n\t"                                                          \
    "bfi r8, r11, #8, #8\n\t"                                                          \
    "bfi r9, r14, #8, #8\n\t"                                                          \
    "strh r7, [r4], #2\n\t"                                                            \
    "strh r8, [r5], #2\n\t"                                                            \
    "strh r9, [r6], #2\n\t" EMBER_TILES_CLOSE_DSP("24")

// Before that, up to the sums.
#define EMBER_TILES_SUM_DSP                                                            \
    "push {r4-r11}\n\t"                                                                \
    "ldmia r0, {r0-r9}\n\t"                                                            \
    "add r5, r5, r5, lsl #1\n\t"                                                       \
    "add r5, r4, r5, lsl #3\n\t" /* end of the filters */                              \
        EMBER_TILES_OPEN_DSP "1:\n\t"                                                  \
    "ldr r7, [r3]\n\t"                                                                 \
    "ldr r10, [r3, #12]\n\t" EMBER_TILES_LOOP_DSP

// One block of assembly, because the inner loop takes all registers: the weights of the
// first filter are read twice, and what changes with a pair is on the stack. Four
// blocks a round; the first round skips what `blocks` lacks to a multiple of four, so
// pointers begin before what they point to. Loads are grouped: a Cortex-M4 takes two
// cycles for the first and one for each after it, but one more than their number for
// those of LDM; a Cortex-M7 takes two at once if neither moves its pointer.
static inline void ember_tiles_dsp(const ember_tiles_dsp_t *tiles) {
    register const ember_tiles_dsp_t *r0 __asm__("r0") = tiles;

    __asm__ volatile(EMBER_TILES_SUM_DSP EMBER_TILES_SCALE_DSP EMBER_TILES_STORE_DSP
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

// The same loop without scaling: sums of products with three columns, for callers with
// their own rounding.
typedef struct ember_tile_sums_dsp {
    const int8_t *w;
    const uint32_t *x;
    int32_t pitch;
    int32_t blocks;      // of four weights; > 0
    const int32_t *bias; // what the sums of each filter begin with
    int32_t pairs;       // of filters; > 0
    int32_t *sums[3];    // those of each column
} ember_tile_sums_dsp_t;

static inline void ember_tile_sums_dsp(const ember_tile_sums_dsp_t *tiles) {
    register const ember_tile_sums_dsp_t *r0 __asm__("r0") = tiles;

    __asm__ volatile("push {r4-r11}\n\t"
                     "ldmia r0, {r0-r8}\n\t"
                     "add r5, r4, r5, lsl #3\n\t" EMBER_TILES_OPEN_DSP "1:\n\t"
                     "ldr r7, [r3]\n\t"
                     "ldr r10, [r3, #4]\n\t" EMBER_TILES_LOOP_DSP "ldr r3, [sp, #4]\n\t"
                     "ldr r4, [sp, #12]\n\t"
                     "ldr r5, [sp, #16]\n\t"
                     "ldr r6, [sp, #20]\n\t"
                     "ldr r12, [sp, #32]\n\t"
                     "ldr r1, [sp]\n\t"
                     "strd r7, r10, [r4], #8\n\t"
                     "strd r8, r11, [r5], #8\n\t"
                     "strd r9, r14, [r6], #8\n\t" EMBER_TILES_CLOSE_DSP("8") //
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

// Sums that are scaled in float32, as arm_dsp_real.h has it. Of what the filters are
// scaled by only the bias counts; the offset is the zero point.
#ifdef __ARM_FP
static inline void ember_tiles_real_dsp(const ember_tiles_dsp_t *tiles,
                                        const ember_real_dsp_t *by) {
    register const ember_tiles_dsp_t *r0 __asm__("r0") = tiles;
    register float s0 __asm__("s0") = by->scale;
    register float s1 __asm__("s1") = by->inverse;

    __asm__ volatile(EMBER_TILES_SUM_DSP EMBER_TILES_REAL_DSP EMBER_TILES_STORE_DSP
                     : "+r"(r0)
                     : "t"(s0), "t"(s1)
                     : "r1", "r2", "r3", "r12", "lr", "s2", "s3", "s4", "s5", "s6",
                       "s7", "cc", "memory");
}
#else // products in float32 are calls
static inline void ember_tiles_real_dsp(const ember_tiles_dsp_t *tiles,
                                        const ember_real_dsp_t *by) {
    for (int32_t f = 0; f < 2 * tiles->pairs; f += 2) {
        const int32_t bias[2] = {tiles->by[f].bias, tiles->by[f + 1].bias};
        int32_t sums[3][2];
        const ember_tile_sums_dsp_t pair = {
            .w = tiles->w + f * tiles->pitch,
            .x = tiles->x,
            .pitch = tiles->pitch,
            .blocks = tiles->blocks,
            .bias = bias,
            .pairs = 1,
            .sums = {sums[0], sums[1], sums[2]},
        };
        ember_tile_sums_dsp(&pair);
        for (int32_t n = 0; n < 3; n++) {
            ember_real_pair_dsp(&sums[n][0], &sums[n][1], by);
            tiles->y[n][f] = (int8_t)sums[n][0];
            tiles->y[n][f + 1] = (int8_t)sums[n][1];
        }
    }
}
#endif

// Four blocks of a column times four filters. Labels 11 to 13 are each at the end of a
// block: a jump there skips as many.
#define EMBER_TILES_FOUR_BLOCKS                                                        \
    "10:\n\t"                                                                          \
    ".irp block, 11, 12, 13, 14\n\t"                                                   \
    "ldr r9, [r3, #4]\n\t"                                                             \
    "ldr r8, [r3], #8\n\t"                                                             \
    "ldr r11, [r0, r1]\n\t"                                                            \
    "ldr r12, [r0, r1, lsl #1]\n\t"                                                    \
    "ldr r10, [r0], #4\n\t"                                                            \
    "sxtb16 r14, r10\n\t"                                                              \
    "smlad r4, r14, r8, r4\n\t"                                                        \
    "sxtb16 r10, r10, ror #8\n\t"                                                      \
    "smlad r4, r10, r9, r4\n\t"                                                        \
    "sxtb16 r14, r11\n\t"                                                              \
    "smlad r5, r14, r8, r5\n\t"                                                        \
    "sxtb16 r11, r11, ror #8\n\t"                                                      \
    "smlad r5, r11, r9, r5\n\t"                                                        \
    "ldr r10, [r0, r2]\n\t"                                                            \
    "sxtb16 r14, r12\n\t"                                                              \
    "smlad r6, r14, r8, r6\n\t"                                                        \
    "sxtb16 r12, r12, ror #8\n\t"                                                      \
    "smlad r6, r12, r9, r6\n\t"                                                        \
    "sxtb16 r14, r10\n\t"                                                              \
    "smlad r7, r14, r8, r7\n\t"                                                        \
    "sxtb16 r10, r10, ror #8\n\t"                                                      \
    "smlad r7, r10, r9, r7\n\t"                                                        \
    "\\block:\n\t"                                                                     \
    ".endr\n\t"

// Sums of `fours` groups of four rows of weights, `pitch` bytes apart, with one column
// of words, (block, even or odd). One block of assembly, with blocks skipped, as above.
static inline void ember_tiles_4x1(int32_t *sums, int32_t fours, const int8_t *w,
                                   int32_t pitch, const uint32_t *x, int32_t blocks) {
    register const int8_t *r0 __asm__("r0") = w;
    register int32_t r1 __asm__("r1") = pitch;
    register int32_t r2 __asm__("r2") = blocks; // later 3 * pitch - 4
    register const uint32_t *r3 __asm__("r3") = x;
    register int32_t *r12 __asm__("r12") = sums;
    register int32_t r14 __asm__("r14") = fours;

    __asm__ volatile("push {r4-r11}\n\t"
                     "add r4, r3, r2, lsl #3\n\t"
                     "mov r5, r3\n\t"
                     "mov r6, r12\n\t"
                     "add r7, r12, r14, lsl #4\n\t"
                     "lsl r8, r1, #2\n\t"
                     "sub r8, r8, r2, lsl #2\n\t"
                     "rsb r9, r2, #0\n\t"
                     "push {r4-r9}\n\t"
                     "add r2, r1, r1, lsl #1\n\t"
                     "sub r2, #4\n\t"
                     "1:\n\t"
                     "ldr r12, [sp, #20]\n\t"
                     "mov r4, #0\n\t"
                     "mov r5, #0\n\t"
                     "mov r6, #0\n\t"
                     "mov r7, #0\n\t"
                     "lsls r12, r12, #31\n\t"
                     "bhi 13f\n\t"
                     "bcs 12f\n\t"
                     "bne 11f\n\t" EMBER_TILES_FOUR_BLOCKS //
                     "ldr r12, [sp]\n\t"
                     "cmp r3, r12\n\t"
                     "bne 10b\n\t"
                     "ldr r14, [sp, #8]\n\t"
                     "ldr r3, [sp, #4]\n\t"
                     "ldr r8, [sp, #16]\n\t"
                     "ldr r10, [sp, #12]\n\t"
                     "stmia r14!, {r4-r7}\n\t"
                     "str r14, [sp, #8]\n\t"
                     "add r0, r8\n\t"
                     "cmp r14, r10\n\t"
                     "bne 1b\n\t"
                     "add sp, #24\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r12), "+r"(r14)
                     :
                     : "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_DSP_TILES_H
