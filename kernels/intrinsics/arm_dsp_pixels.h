// SPDX-License-Identifier: Apache-2.0
// Pixels of four channels as words, and depthwise outputs from them.
// kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_PIXELS_H
#define EMBER_INTRINSICS_ARM_DSP_PIXELS_H

#include <arm_dsp_real.h>

// Rows of pixels of four channels that become words.
typedef struct ember_pixels_widen_dsp {
    uint32_t *to;    // (row, pixel, channels 0 and 2 or 1 and 3)
    const int8_t *x; // of the first pixel
    int32_t step;    // bytes from pixel to pixel
    uint32_t offset; // added to each half
    int32_t count;   // pixels of a row; > 0
    int32_t rows;    // > 0
    int32_t skip;    // bytes from the end of a row to the next
    int32_t to_skip; // and of words
} ember_pixels_widen_dsp_t;

static inline void ember_pixels_widen_dsp(const ember_pixels_widen_dsp_t *pixels) {
    register const ember_pixels_widen_dsp_t *r0 __asm__("r0") = pixels;

    __asm__ volatile("push {r4-r9}\n\t"
                     "ldmia r0, {r0-r7}\n\t"
                     "add r14, r4, #1\n\t"
                     "9:\n\t"
                     "lsrs r4, r14, #1\n\t" // rounds of two; an odd one is skipped
                     "bcc 11f\n\t"
                     "10:\n\t"
                     ".irp pixel, 11, 12\n\t"
                     "ldr r8, [r1]\n\t"
                     "add r1, r2\n\t"
                     "sxtab16 r9, r3, r8\n\t"
                     "sxtab16 r12, r3, r8, ror #8\n\t"
                     "str r12, [r0, #4]\n\t"
                     "str r9, [r0], #8\n\t"
                     "\\pixel:\n\t"
                     ".endr\n\t"
                     "subs r4, #1\n\t"
                     "bne 10b\n\t"
                     "add r1, r6\n\t"
                     "add r0, r7\n\t"
                     "subs r5, #1\n\t"
                     "bne 9b\n\t"
                     "pop {r4-r9}"
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

// Four channels: what their sums begin with, their weights as pixels are, and how sums
// become outputs.
typedef struct ember_channels_dsp {
    int32_t bias[4];
    uint32_t weights[18]; // (tap, even or odd)
    struct {
        int32_t multiplier, power; // as in ember_quad_dsp_t
    } by[4];
} ember_channels_dsp_t;

// Rows of outputs with 3 x 3 taps, two outputs at a time.
typedef struct ember_pixels_run_dsp {
    const uint32_t *x; // (row, pixel, even or odd)
    const ember_channels_dsp_t *channels;
    int8_t *y;
    int32_t pitch;  // bytes of words from row to row
    int32_t next;   // and from output to output
    int32_t down;   // and from row to row of outputs
    int32_t y_next; // bytes of outputs; > 0
    int32_t y_down; // and those of a row, to which the next one is adjacent
    int32_t last;   // bytes of outputs from the first of a row to the last but one
    int32_t rows;   // of outputs; > 0
    int32_t offset; // twice the zero point, and 1
} ember_pixels_run_dsp_t;

// Both sums of a channel become outputs.
#define EMBER_PIXELS_SCALE_DSP(channel, a, b)                                          \
    "ldr r2, [sp, #88 + " channel " * 8]\n\t"                                          \
    "ldr r3, [sp, #92 + " channel " * 8]\n\t"                                          \
    ".irp sum, " a ", " b "\n\t"                                                       \
    "smmlar \\sum, \\sum, r2, \\sum\n\t"                                               \
    "add \\sum, \\sum, \\sum, asr #31\n\t"                                             \
    "smmla \\sum, \\sum, r3, r12\n\t"                                                  \
    "ssat \\sum, #8, \\sum, asr #1\n\t"                                                \
    ".endr\n\t"

// What belongs to the channels is copied to the stack, because the taps take all
// registers. Pixels under the first output are at r0, its sums in r4 to r7; those of
// the second are at r1 and in r8 to r11. r12 is the offset.
#define EMBER_PIXELS_SUM_DSP                                                           \
    "push {r4-r11}\n\t"                                                                \
    "sub sp, #164\n\t"                                                                 \
    "mov r12, r0\n\t"                                                                  \
    "mov r14, sp\n\t"                                                                  \
    "ldr r1, [r0, #4]\n\t"                                                             \
    ".rept 3\n\t"                                                                      \
    "ldmia r1!, {r2-r11}\n\t"                                                          \
    "stmia r14!, {r2-r11}\n\t"                                                         \
    ".endr\n\t"                                                                        \
    "ldmia r12, {r0-r10}\n\t"                                                          \
    "lsl r11, r3, #1\n\t"                                                              \
    "sub r11, r11, r4, lsl #1\n\t" /* from the last taps to the next */                \
    "add r8, r2\n\t"                                                                   \
    "add r1, r0, r4\n\t"                                                               \
    "str r3, [sp, #120]\n\t"                                                           \
    "str r11, [sp, #124]\n\t"                                                          \
    "str r6, [sp, #128]\n\t"                                                           \
    "str r2, [sp, #132]\n\t"                                                           \
    "str r8, [sp, #136]\n\t"                                                           \
    "str r10, [sp, #140]\n\t"                                                          \
    "str r9, [sp, #144]\n\t"                                                           \
    "str r0, [sp, #148]\n\t"                                                           \
    "str r5, [sp, #152]\n\t"                                                           \
    "str r7, [sp, #156]\n\t"                                                           \
    "str r4, [sp, #160]\n\t"                                                           \
    "1:\n\t"                                                                           \
    "ldmia sp, {r4-r7}\n\t"                                                            \
    "mov r8, r4\n\t"                                                                   \
    "mov r9, r5\n\t"                                                                   \
    "mov r10, r6\n\t"                                                                  \
    "mov r11, r7\n\t"                                                                  \
    ".irp tap, 0, 1, 2, 3, 4, 5, 6, 7, 8\n\t"                                          \
    "ldr r2, [sp, #16 + \\tap * 8]\n\t"                                                \
    "ldr r3, [sp, #20 + \\tap * 8]\n\t"                                                \
    ".if \\tap == 3 || \\tap == 6\n\t"                                                 \
    "ldr r12, [sp, #120]\n\t"                                                          \
    "add r0, r12\n\t"                                                                  \
    "add r1, r12\n\t"                                                                  \
    ".endif\n\t"                                                                       \
    "ldr r12, [r0, #(\\tap %% 3) * 8]\n\t"                                             \
    "ldr r14, [r0, #(\\tap %% 3) * 8 + 4]\n\t"                                         \
    "smlabb r4, r12, r2, r4\n\t"                                                       \
    "smlatt r6, r12, r2, r6\n\t"                                                       \
    "smlabb r5, r14, r3, r5\n\t"                                                       \
    "smlatt r7, r14, r3, r7\n\t"                                                       \
    "ldr r12, [r1, #(\\tap %% 3) * 8]\n\t"                                             \
    "ldr r14, [r1, #(\\tap %% 3) * 8 + 4]\n\t"                                         \
    "smlabb r8, r12, r2, r8\n\t"                                                       \
    "smlatt r10, r12, r2, r10\n\t"                                                     \
    "smlabb r9, r14, r3, r9\n\t"                                                       \
    "smlatt r11, r14, r3, r11\n\t"                                                     \
    ".endr\n\t"                                                                        \
    "ldr r12, [sp, #140]\n\t"

// Where one output is left of a row, the one before it is computed again.
#define EMBER_PIXELS_STORE_DSP                                                         \
    "ldr r14, [sp, #132]\n\t"                                                          \
    "ldr r3, [sp, #128]\n\t"                                                           \
    "ldr r12, [sp, #136]\n\t"                                                          \
    "ldr r2, [sp, #124]\n\t"                                                           \
    "bfi r4, r5, #8, #8\n\t"                                                           \
    "bfi r8, r9, #8, #8\n\t"                                                           \
    "bfi r4, r6, #16, #8\n\t"                                                          \
    "bfi r8, r10, #16, #8\n\t"                                                         \
    "bfi r4, r7, #24, #8\n\t"                                                          \
    "bfi r8, r11, #24, #8\n\t"                                                         \
    "str r8, [r14, r3]\n\t"                                                            \
    "str r4, [r14]\n\t"                                                                \
    "add r14, r14, r3, lsl #1\n\t"                                                     \
    "sub r0, r2\n\t"                                                                   \
    "sub r1, r2\n\t"                                                                   \
    "str r14, [sp, #132]\n\t"                                                          \
    "cmp r14, r12\n\t"                                                                 \
    "bls 1b\n\t"                                                                       \
    "ldr r4, [sp, #160]\n\t"                                                           \
    "sub r5, r14, r12\n\t"                                                             \
    "cmp r5, r3\n\t"                                                                   \
    "bne 2f\n\t"                                                                       \
    "sub r14, r3\n\t"                                                                  \
    "str r14, [sp, #132]\n\t"                                                          \
    "sub r0, r4\n\t"                                                                   \
    "sub r1, r4\n\t"                                                                   \
    "b 1b\n\t"                                                                         \
    "2:\n\t" /* r14 is behind the last output of a row */                              \
    "ldr r2, [sp, #144]\n\t"                                                           \
    "ldr r0, [sp, #148]\n\t"                                                           \
    "ldr r5, [sp, #152]\n\t"                                                           \
    "ldr r7, [sp, #156]\n\t"                                                           \
    "add r0, r5\n\t"                                                                   \
    "add r1, r0, r4\n\t"                                                               \
    "add r12, r7\n\t"                                                                  \
    "str r0, [sp, #148]\n\t"                                                           \
    "str r12, [sp, #136]\n\t"                                                          \
    "subs r2, #1\n\t"                                                                  \
    "str r2, [sp, #144]\n\t"                                                           \
    "bne 1b\n\t"                                                                       \
    "add sp, #164\n\t"                                                                 \
    "pop {r4-r11}"

// One block of assembly, because the sums take all registers.
static inline void ember_pixels_run_dsp(const ember_pixels_run_dsp_t *run) {
    register const ember_pixels_run_dsp_t *r0 __asm__("r0") = run;

    __asm__ volatile(EMBER_PIXELS_SUM_DSP EMBER_PIXELS_SCALE_DSP("0", "r4", "r8")
                         EMBER_PIXELS_SCALE_DSP("1", "r5", "r9")
                             EMBER_PIXELS_SCALE_DSP("2", "r6", "r10")
                                 EMBER_PIXELS_SCALE_DSP("3", "r7", "r11")
                                     EMBER_PIXELS_STORE_DSP
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

// Sums that are scaled in float32, as arm_dsp_real.h has it. Of what channels are
// scaled by only the biases count; the offset is the zero point. Only for cores with a
// float unit.
#ifdef __ARM_FP
enum { EMBER_PIXELS_REAL_DSP = 1 };

static inline void ember_pixels_real_dsp(const ember_pixels_run_dsp_t *run,
                                         const ember_real_dsp_t *by) {
    register const ember_pixels_run_dsp_t *r0 __asm__("r0") = run;
    register float s0 __asm__("s0") = by->scale;
    register float s1 __asm__("s1") = by->inverse;

    __asm__ volatile(EMBER_PIXELS_SUM_DSP EMBER_REAL_EIGHT_DSP EMBER_PIXELS_STORE_DSP
                     : "+r"(r0)
                     : "t"(s0), "t"(s1)
                     : "r1", "r2", "r3", "r12", "lr", "s2", "s3", "s4", "s5", "s6",
                       "s7", "s8", "s9", "cc", "memory");
}
#else
enum { EMBER_PIXELS_REAL_DSP = 0 };

static inline void ember_pixels_real_dsp(const ember_pixels_run_dsp_t *run,
                                         const ember_real_dsp_t *by) {
    (void)run, (void)by;
}
#endif

#endif // EMBER_INTRINSICS_ARM_DSP_PIXELS_H
