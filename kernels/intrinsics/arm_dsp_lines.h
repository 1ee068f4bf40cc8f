// SPDX-License-Identifier: Apache-2.0
// Lines of four channels as words, and depthwise outputs from three of them.
// kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_LINES_H
#define EMBER_INTRINSICS_ARM_DSP_LINES_H

#include <arm_dsp.h>

// Lines of pixels that become words.
typedef struct ember_lines_widen_dsp {
    const int8_t *x; // four channels
    uint32_t *to;    // (line, pair of pixels, channel): what both pixels have of it
    int32_t lines;   // > 0
    int32_t pitch;   // bytes of x from line to line
    int32_t to_pitch;
    uint32_t offset; // added to each half
    int32_t step;    // bytes from pixel to pixel
    int32_t lead;    // whether the first pixel is the second of a pair
    int32_t pairs;
    int32_t tail; // whether the last one is the first of a pair
} ember_lines_widen_dsp_t;

// What is left of a half pair is 0.
static inline void ember_lines_widen_dsp(const ember_lines_widen_dsp_t *lines) {
    register const ember_lines_widen_dsp_t *r0 __asm__("r0") = lines;

#define EMBER_LINES_WORDS_DSP(offset, a, b)                                            \
    "sxtab16 r3, " offset ", " a "\n\t"                                                \
    "sxtab16 " a ", " offset ", " a ", ror #8\n\t"                                     \
    "str r3, [r0], #16\n\t"                                                            \
    "str " a ", [r0, #-12]\n\t"                                                        \
    "sxtab16 r3, " offset ", " b "\n\t"                                                \
    "sxtab16 " b ", " offset ", " b ", ror #8\n\t"                                     \
    "str r3, [r0, #-8]\n\t"                                                            \
    "str " b ", [r0, #-4]\n\t"
    __asm__ volatile("push {r4-r11}\n\t"
                     "mov r14, r0\n\t"
                     "ldmia r0, {r7-r12}\n\t"
                     "ldr r2, [r14, #24]\n\t"
                     "1:\n\t"
                     "ldr r3, [r14, #28]\n\t"
                     "mov r0, r8\n\t"
                     "mov r1, r7\n\t"
                     "add r8, r11\n\t"
                     "add r7, r10\n\t"
                     "cbz r3, 2f\n\t"
                     "ldr r4, [r1]\n\t"
                     "add r1, r2\n\t"
                     "lsr r6, r12, #16\n\t"
                     "lsl r5, r4, #16\n\t"
                     "lsr r4, r4, #16\n\t"
                     "lsl r6, r6, #16\n\t"
                     "lsl r4, r4, #16\n\t" EMBER_LINES_WORDS_DSP("r6", "r5", "r4") //
                     "2:\n\t"
                     "ldr r6, [r14, #32]\n\t"
                     "cbz r6, 4f\n\t"
                     "3:\n\t"
                     "ldr r4, [r1]\n\t"
                     "ldr r5, [r1, r2]\n\t"
                     "add r1, r1, r2, lsl #1\n\t"
                     "pkhbt r3, r4, r5, lsl #16\n\t"
                     "pkhtb r5, r5, r4, asr #16\n\t"
                     "mov r4, r3\n\t" EMBER_LINES_WORDS_DSP("r12", "r4", "r5") //
                     "subs r6, #1\n\t"
                     "bne 3b\n\t"
                     "4:\n\t"
                     "ldr r6, [r14, #36]\n\t"
                     "cbz r6, 5f\n\t"
                     "ldr r4, [r1]\n\t"
                     "uxth r6, r12\n\t"
                     "uxth r5, r4\n\t"
                     "lsr r4, r4, #16\n\t" EMBER_LINES_WORDS_DSP("r6", "r5", "r4") //
                     "5:\n\t"
                     "subs r9, #1\n\t"
                     "bne 1b\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
#undef EMBER_LINES_WORDS_DSP
}

// Rows of outputs of four channels with 3 x 3 taps, two outputs at a time.
typedef struct ember_lines_run_dsp {
    const uint32_t *x;            // (line, pair, channel), as above
    int32_t pitch;                // bytes from line to line
    const uint32_t *weights;      // (line, taps 0 and 1 or 1 and 2, channel)
    const ember_filter_dsp_t *by; // of the four channels
    int8_t *y;
    int32_t step;   // bytes from output to output; 0: the first of two counts
    int32_t span;   // to the output behind the last two of a row
    int32_t odd;    // whether one more follows them
    int32_t offset; // twice the zero point, and 1
    int32_t down;   // bytes of words, and of outputs, from row to row
    int32_t y_down;
    int32_t rows;  // > 0
    int32_t apart; // whether outputs lie two pixels apart, not one
} ember_lines_run_dsp_t;

// What a row begins with: words in r0, their pitch in r1, all else on the stack,
// weights first. Sums of the first output in r2-r5, of the second in r6-r9, which begin
// where the first do.
#define EMBER_LINES_BEGIN_DSP                                                          \
    "push {r4-r11}\n\t"                                                                \
    "mov r12, r0\n\t"                                                                  \
    "sub sp, #160\n\t"                                                                 \
    "ldr r14, [r12, #8]\n\t"                                                           \
    "mov r0, sp\n\t"                                                                   \
    ".irp i, 0, 1, 2\n\t"                                                              \
    "ldmia r14!, {r2-r9}\n\t"                                                          \
    "stmia r0!, {r2-r9}\n\t"                                                           \
    ".endr\n\t"                                                                        \
    "add r14, r12, #12\n\t"                                                            \
    "ldmia r14, {r2-r10}\n\t"                                                          \
    "stmia r0, {r2-r10}\n\t"                                                           \
    "ldmia r12, {r0, r1}\n\t"                                                          \
    "add r5, r3\n\t"                                                                   \
    "str r4, [sp, #132]\n\t"                                                           \
    "str r6, [sp, #136]\n\t"                                                           \
    "str r0, [sp, #140]\n\t"                                                           \
    "str r3, [sp, #144]\n\t"                                                           \
    "str r5, [sp, #148]\n\t"                                                           \
    "ldr r6, [r12, #48]\n\t"                                                           \
    "str r6, [sp, #152]\n\t"                                                           \
    "mov r14, r2\n\t"

#define EMBER_LINES_BIAS_DSP                                                           \
    "ldr r2, [r14]\n\t"                                                                \
    "ldr r3, [r14, #12]\n\t"                                                           \
    "ldr r4, [r14, #24]\n\t"                                                           \
    "ldr r5, [r14, #36]\n\t"

// Both outputs of a channel, by the row of r14 at `at`, the zero point in r12.
#define EMBER_LINES_SCALE_DSP(at, a, b)                                                \
    "ldr r10, [r14, #" at " + 4]\n\t"                                                  \
    "ldr r11, [r14, #" at " + 8]\n\t"                                                  \
    ".irp sum, " a ", " b "\n\t"                                                       \
    "smmlar \\sum, \\sum, r10, \\sum\n\t"                                              \
    "add \\sum, \\sum, \\sum, asr #31\n\t"                                             \
    "asr \\sum, \\sum, r11\n\t"                                                        \
    "add \\sum, r12\n\t"                                                               \
    "ssat \\sum, #8, \\sum, asr #1\n\t"                                                \
    ".endr\n\t"

// Stores both outputs, the second first, and goes on with the next two
// words on, with the last one, or with the next row.
#define EMBER_LINES_END_DSP                                                            \
    "sub r0, r0, r1, lsl #1\n\t"                                                       \
    "ldr r14, [sp, #96]\n\t"                                                           \
    "ldr r12, [sp, #116]\n\t" EMBER_LINES_SCALE_DSP("0", "r2", "r6")                   \
        EMBER_LINES_SCALE_DSP("12", "r3", "r7")                                        \
            EMBER_LINES_SCALE_DSP("24", "r4", "r8") EMBER_LINES_SCALE_DSP(             \
                "36", "r5", "r9") "bfi r2, r3, #8, #8\n\t"                             \
                                  "bfi r6, r7, #8, #8\n\t"                             \
                                  "bfi r2, r4, #16, #8\n\t"                            \
                                  "bfi r6, r8, #16, #8\n\t"                            \
                                  "bfi r2, r5, #24, #8\n\t"                            \
                                  "bfi r6, r9, #24, #8\n\t"                            \
                                  "ldr r10, [sp, #100]\n\t"                            \
                                  "ldr r11, [sp, #104]\n\t"                            \
                                  "ldr r12, [sp, #148]\n\t"                            \
                                  "str r6, [r10, r11]\n\t"                             \
                                  "str r2, [r10]\n\t"                                  \
                                  "add r10, r10, r11, lsl #1\n\t"                      \
                                  "str r10, [sp, #100]\n\t"                            \
                                  "add r0, #16\n\t" EMBER_LINES_BIAS_DSP               \
                                  "ldr r6, [sp, #152]\n\t"                             \
                                  "cmp r10, r12\n\t"                                   \
                                  "bne 1b\n\t"                                         \
                                  "ldr r12, [sp, #112]\n\t"                            \
                                  "cmp r12, #0\n\t"                                    \
                                  "beq 2f\n\t"                                         \
                                  "mov r12, #0\n\t"                                    \
                                  "str r12, [sp, #104]\n\t"                            \
                                  "str r12, [sp, #112]\n\t"                            \
                                  "b 1b\n\t"                                           \
                                  "2:\n\t"                                             \
                                  "ldr r14, [sp, #120]\n\t"                            \
                                  "ldr r7, [sp, #124]\n\t"                             \
                                  "ldr r8, [sp, #128]\n\t"                             \
                                  "ldr r9, [sp, #132]\n\t"                             \
                                  "ldr r10, [sp, #136]\n\t"                            \
                                  "ldr r0, [sp, #140]\n\t"                             \
                                  "ldr r11, [sp, #144]\n\t"                            \
                                  "ldr r12, [sp, #108]\n\t"                            \
                                  "add r0, r14\n\t"                                    \
                                  "add r11, r7\n\t"                                    \
                                  "add r12, r11\n\t"                                   \
                                  "subs r8, #1\n\t"                                    \
                                  "str r11, [sp, #100]\n\t"                            \
                                  "str r9, [sp, #104]\n\t"                             \
                                  "str r10, [sp, #112]\n\t"                            \
                                  "str r8, [sp, #128]\n\t"                             \
                                  "str r0, [sp, #140]\n\t"                             \
                                  "str r11, [sp, #144]\n\t"                            \
                                  "str r12, [sp, #148]\n\t"                            \
                                  "bne 1b\n\t"                                         \
                                  "add sp, #160\n\t"                                   \
                                  "pop {r4-r11}"

#define EMBER_LINES_DOWN_DSP                                                           \
    ".if \\line < 2\n\t"                                                               \
    "add r0, r1\n\t"                                                                   \
    ".endif\n\t"

// Two channels of a pair of pixels, in r10 and r11, and their weights.
#define EMBER_LINES_CHANNELS_DSP(pair, taps, channel)                                  \
    "ldr r10, [r0, #" pair " * 16 + " channel " * 4]\n\t"                              \
    "ldr r11, [r0, #" pair " * 16 + " channel " * 4 + 4]\n\t"                          \
    "ldr r12, [sp, #\\line * 32 + " taps " * 16 + " channel " * 4]\n\t"                \
    "ldr r14, [sp, #\\line * 32 + " taps " * 16 + " channel " * 4 + 4]\n\t"

// Adds to both sums of a channel: pixels 0 and 1 to the first, with taps 0 and 1, pixel
// 1 to the second; the first line begins both.
#define EMBER_LINES_LEFT_DSP(x, w, first, second)                                      \
    ".if \\line == 0\n\t"                                                              \
    "smlatb " second ", " x ", " w ", " first "\n\t"                                   \
    ".else\n\t"                                                                        \
    "smlatb " second ", " x ", " w ", " second "\n\t"                                  \
    ".endif\n\t"                                                                       \
    "smlad " first ", " x ", " w ", " first "\n\t"

// Pixel 2 to the first, with tap 2, and pixels 2 and 3 to the second.
#define EMBER_LINES_RIGHT_DSP(x, w, first, second)                                     \
    "smlabt " first ", " x ", " w ", " first "\n\t"                                    \
    "smlad " second ", " x ", " w ", " second "\n\t"

// A channel of two outputs that lie two pixels apart.
#define EMBER_LINES_APART_DSP(channel, first, second)                                  \
    "ldr r10, [r0, #" channel " * 4]\n\t"                                              \
    "ldr r11, [r0, #16 + " channel " * 4]\n\t"                                         \
    "ldr r12, [sp, #\\line * 32 + " channel " * 4]\n\t"                                \
    "ldr r14, [sp, #\\line * 32 + 16 + " channel " * 4]\n\t"                           \
    ".if \\line == 0\n\t"                                                              \
    "smlad " second ", r11, r12, " first "\n\t"                                        \
    ".else\n\t"                                                                        \
    "smlad " second ", r11, r12, " second "\n\t"                                       \
    ".endif\n\t"                                                                       \
    "smlad " first ", r10, r12, " first "\n\t"                                         \
    "ldr r10, [r0, #32 + " channel " * 4]\n\t"                                         \
    "smlabt " first ", r11, r14, " first "\n\t"                                        \
    "smlabt " second ", r10, r14, " second "\n\t"

// Two channels of outputs of neighbouring pixels, of the first pair of pixels or the
// next.
#define EMBER_LINES_NEXT_DSP                                                           \
    EMBER_LINES_CHANNELS_DSP("0", "0", "0")                                            \
    EMBER_LINES_LEFT_DSP("r10", "r12", "r2", "r6")                                     \
    EMBER_LINES_LEFT_DSP("r11", "r14", "r3", "r7")                                     \
    EMBER_LINES_CHANNELS_DSP("0", "0", "2")                                            \
    EMBER_LINES_LEFT_DSP("r10", "r12", "r4", "r8")                                     \
    EMBER_LINES_LEFT_DSP("r11", "r14", "r5", "r9")                                     \
    EMBER_LINES_CHANNELS_DSP("1", "1", "0")                                            \
    EMBER_LINES_RIGHT_DSP("r10", "r12", "r2", "r6")                                    \
    EMBER_LINES_RIGHT_DSP("r11", "r14", "r3", "r7")                                    \
    EMBER_LINES_CHANNELS_DSP("1", "1", "2")                                            \
    EMBER_LINES_RIGHT_DSP("r10", "r12", "r4", "r8")                                    \
    EMBER_LINES_RIGHT_DSP("r11", "r14", "r5", "r9")

// In one piece, since the sums take most registers: a round of two outputs for either
// distance, and one end of both.
static inline void ember_lines_dsp(const ember_lines_run_dsp_t *run) {
    register const ember_lines_run_dsp_t *r0 __asm__("r0") = run;

    __asm__ volatile(EMBER_LINES_BEGIN_DSP EMBER_LINES_BIAS_DSP
                     "1:\n\t"
                     "cmp r6, #0\n\t"
                     "beq 4f\n\t"
                     ".irp line, 0, 1, 2\n\t"               //
                     EMBER_LINES_APART_DSP("0", "r2", "r6") //
                     EMBER_LINES_APART_DSP("1", "r3", "r7") //
                     EMBER_LINES_APART_DSP("2", "r4", "r8") //
                     EMBER_LINES_APART_DSP("3", "r5", "r9") //
                     EMBER_LINES_DOWN_DSP ".endr\n\t"
                                          "add r0, #16\n\t"
                                          "b 5f\n\t"
                                          "4:\n\t"
                                          ".irp line, 0, 1, 2\n\t"     //
                     EMBER_LINES_NEXT_DSP                              //
                     EMBER_LINES_DOWN_DSP ".endr\n\t"                  //
                                          "5:\n\t" EMBER_LINES_END_DSP //
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_DSP_LINES_H
