// SPDX-License-Identifier: Apache-2.0
// Lines of four channels as words, and depthwise outputs from three of them.
// kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_LINES_H
#define EMBER_INTRINSICS_ARM_DSP_LINES_H

#include <arm_dsp_real.h>

// Words of four channels: for each the element in `x` and the one `step` bytes after
// it, then those two steps on. Words of a channel are three apart, channels `pitch`
// bytes.
static inline void ember_lines_widen_dsp(uint32_t *to, int32_t pitch, const int8_t *x,
                                         int32_t step, int32_t count, uint32_t offset) {
    register uint32_t *r0 __asm__("r0") = to;
    register int32_t r1 __asm__("r1") = pitch;
    register const int8_t *r2 __asm__("r2") = x;
    register int32_t r3 __asm__("r3") = step;
    register int32_t r12 __asm__("r12") = count;
    register uint32_t r14 __asm__("r14") = offset;

    __asm__ volatile("push {r4-r11}\n\t"
                     "add r4, r0, r1\n\t"
                     "add r5, r4, r1\n\t"
                     "add r6, r5, r1\n\t"
                     "1:\n\t"
                     "ldr r7, [r2]\n\t"
                     "ldr r8, [r2, r3]\n\t"
                     "add r2, r2, r3, lsl #1\n\t"
                     "sxtab16 r9, r14, r7\n\t"
                     "sxtab16 r10, r14, r8\n\t"
                     "sxtab16 r7, r14, r7, ror #8\n\t"
                     "sxtab16 r8, r14, r8, ror #8\n\t"
                     "pkhbt r11, r9, r10, lsl #16\n\t"
                     "pkhtb r10, r10, r9, asr #16\n\t"
                     "pkhbt r9, r7, r8, lsl #16\n\t"
                     "pkhtb r8, r8, r7, asr #16\n\t"
                     "str r11, [r0], #12\n\t"
                     "str r9, [r4], #12\n\t"
                     "str r10, [r5], #12\n\t"
                     "str r8, [r6], #12\n\t"
                     "subs r12, #1\n\t"
                     "bne 1b\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0), "+r"(r2), "+r"(r12)
                     : "r"(r1), "r"(r3), "r"(r14)
                     : "cc", "memory");
}

// A row of outputs of four channels with 3 x 3 taps. Words have two consecutive
// elements of a line; those of three lines are side by side.
typedef struct ember_lines_run_dsp {
    const uint32_t *x;            // (channel, word, line)
    const uint32_t *weights;      // of each line: taps 0 and 1, 1 and 2; the next
                                  // channel's are EMBER_LINES_WEIGHTS words on
    const ember_filter_dsp_t *by; // of the first channel
    int8_t *y;                    // of the first channel
    int32_t step;                 // bytes from output to output; > 0
    int32_t rounds;               // 256 times those after the first
    int32_t spare;                // 0: an extra output follows; else `step`
    int32_t offset;               // twice the zero point, and 1
    int32_t skip;      // bytes of a channel's words after those of its rounds
    const int8_t *end; // the first output of the channel after the last
} ember_lines_run_dsp_t;

enum { EMBER_LINES_WEIGHTS = 10 };

// The beginning and end of a channel. The remaining rounds and the shift share a
// register. An extra output is a round that writes its second output to the place of
// the first one: its step is 0, and the spare one replaces it afterwards.
#define EMBER_LINES_BEGIN_DSP                                                          \
    "push {r4-r11}\n\t"                                                                \
    "ldmia r0, {r0-r9}\n\t"                                                            \
    "push {r0-r9}\n\t"                                                                 \
    "1:\n\t"                                                                           \
    "ldr r12, [sp, #4]\n\t"                                                            \
    "ldr r14, [sp, #8]\n\t"                                                            \
    "ldmia r12, {r4-r9}\n\t"                                                           \
    "add r12, #40\n\t"                                                                 \
    "ldmia r14!, {r1, r2, r3}\n\t"                                                     \
    "str r12, [sp, #4]\n\t"                                                            \
    "str r14, [sp, #8]\n\t"                                                            \
    "str r1, [sp]\n\t"                                                                 \
    "ldr r1, [sp, #12]\n\t"                                                            \
    "ldr r11, [sp, #20]\n\t"                                                           \
    "add r12, r1, #1\n\t"                                                              \
    "str r12, [sp, #12]\n\t"                                                           \
    "orr r3, r11\n\t"

#define EMBER_LINES_END_DSP                                                            \
    "subs r3, #256\n\t"                                                                \
    "bpl 2b\n\t"                                                                       \
    "ldr r10, [sp, #16]\n\t"                                                           \
    "ldr r11, [sp, #24]\n\t"                                                           \
    "str r10, [sp, #24]\n\t"                                                           \
    "str r11, [sp, #16]\n\t"                                                           \
    "cmp r11, #0\n\t"                                                                  \
    "beq 2b\n\t"                                                                       \
    "ldr r12, [sp, #32]\n\t"                                                           \
    "ldr r11, [sp, #36]\n\t"                                                           \
    "ldr r10, [sp, #12]\n\t"                                                           \
    "add r0, r12\n\t"                                                                  \
    "cmp r10, r11\n\t"                                                                 \
    "bne 1b\n\t"                                                                       \
    "add sp, #40\n\t"                                                                  \
    "pop {r4-r11}"

// Sums of `by`; twice the zero point and 1 is in r10.
#define EMBER_LINES_SCALE_DSP(sum)                                                     \
    "smmlar " sum ", " sum ", r2, " sum "\n\t"                                         \
    "add " sum ", " sum ", " sum ", asr #31\n\t"                                       \
    "asr " sum ", " sum ", r3\n\t"                                                     \
    "add " sum ", r10\n\t"                                                             \
    "ssat " sum ", #8, " sum ", asr #1\n\t"

// The sums r12 and r14 of two neighbouring outputs, and their store to r1.
#define EMBER_LINES_SUMS_1_DSP                                                         \
    "2:\n\t"                                                                           \
    "ldr r14, [sp]\n\t"                                                                \
    "ldr r10, [r0, #4]\n\t"                                                            \
    "ldr r11, [r0, #16]\n\t"                                                           \
    "smlad r12, r10, r6, r14\n\t"                                                      \
    "smlatb r14, r10, r6, r14\n\t"                                                     \
    "smlabt r12, r11, r7, r12\n\t"                                                     \
    "smlad r14, r11, r7, r14\n\t"                                                      \
    "ldr r10, [r0, #8]\n\t"                                                            \
    "ldr r11, [r0, #20]\n\t"                                                           \
    "smlad r12, r10, r8, r12\n\t"                                                      \
    "smlatb r14, r10, r8, r14\n\t"                                                     \
    "smlabt r12, r11, r9, r12\n\t"                                                     \
    "smlad r14, r11, r9, r14\n\t"                                                      \
    "ldr r11, [r0, #12]\n\t"                                                           \
    "ldr r10, [r0], #12\n\t"                                                           \
    "smlabt r12, r11, r5, r12\n\t"                                                     \
    "smlad r14, r11, r5, r14\n\t"                                                      \
    "smlad r12, r10, r4, r12\n\t"                                                      \
    "smlatb r14, r10, r4, r14\n\t"

#define EMBER_LINES_STORE_1_DSP                                                        \
    "strb r14, [r1, r11]\n\t"                                                          \
    "strb r12, [r1]\n\t"                                                               \
    "add r1, r1, r11, lsl #1\n\t" EMBER_LINES_END_DSP

// The sum r12 of an output, where they are two elements apart.
#define EMBER_LINES_SUMS_2_DSP                                                         \
    "2:\n\t"                                                                           \
    "ldr r12, [sp]\n\t"                                                                \
    "ldr r10, [r0, #4]\n\t"                                                            \
    "ldr r11, [r0, #16]\n\t"                                                           \
    "ldr r14, [r0, #8]\n\t"                                                            \
    "smlad r12, r10, r6, r12\n\t"                                                      \
    "smlabt r12, r11, r7, r12\n\t"                                                     \
    "smlad r12, r14, r8, r12\n\t"                                                      \
    "ldr r11, [r0, #20]\n\t"                                                           \
    "ldr r10, [r0, #12]\n\t"                                                           \
    "ldr r14, [r0], #12\n\t"                                                           \
    "smlabt r12, r11, r9, r12\n\t"                                                     \
    "smlabt r12, r10, r5, r12\n\t"                                                     \
    "smlad r12, r14, r4, r12\n\t"

#define EMBER_LINES_STORE_2_DSP                                                        \
    "strb r12, [r1]\n\t"                                                               \
    "add r1, r11\n\t" EMBER_LINES_END_DSP

// Rounds of two neighbouring outputs.
static inline void ember_lines_dsp(const ember_lines_run_dsp_t *run) {
    register const ember_lines_run_dsp_t *r0 __asm__("r0") = run;

    __asm__ volatile(EMBER_LINES_BEGIN_DSP EMBER_LINES_SUMS_1_DSP //
                     "ldr r10, [sp, #28]\n\t"
                     "ldr r11, [sp, #16]\n\t"     //
                     EMBER_LINES_SCALE_DSP("r12") //
                     EMBER_LINES_SCALE_DSP("r14") //
                     EMBER_LINES_STORE_1_DSP      //
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

// The same with sums that are scaled in float32, as arm_dsp_real.h has it; the zero
// point is the multiplier of what channels are scaled by, whose shift is 0. Only for
// cores with a float unit.
#ifdef __ARM_FP
enum { EMBER_LINES_REAL_DSP = 1 };

static inline void ember_lines_real_1_dsp(const ember_lines_run_dsp_t *run,
                                          const ember_real_dsp_t *by) {
    register const ember_lines_run_dsp_t *r0 __asm__("r0") = run;
    register float s0 __asm__("s0") = by->scale;
    register float s1 __asm__("s1") = by->inverse;

    __asm__ volatile(EMBER_LINES_BEGIN_DSP EMBER_LINES_SUMS_1_DSP //
                     "vmov s2, s3, r12, r14\n\t"
                     "ldr r11, [sp, #16]\n\t"
                     "vcvt.f32.s32 s2, s2\n\t"
                     "vcvt.f32.s32 s3, s3\n\t"
                     "vmul.f32 s2, s2, s0\n\t"
                     "vmul.f32 s3, s3, s0\n\t"
                     "vmul.f32 s2, s2, s1\n\t"
                     "vmul.f32 s3, s3, s1\n\t"
                     "vcvtr.s32.f32 s2, s2\n\t"
                     "vcvtr.s32.f32 s3, s3\n\t"
                     "vmov r12, r14, s2, s3\n\t"
                     "qadd r12, r12, r2\n\t"
                     "qadd r14, r14, r2\n\t"
                     "ssat r12, #8, r12\n\t"
                     "ssat r14, #8, r14\n\t" EMBER_LINES_STORE_1_DSP
                     : "+r"(r0)
                     : "t"(s0), "t"(s1)
                     : "r1", "r2", "r3", "r12", "lr", "s2", "s3", "cc", "memory");
}

static inline void ember_lines_real_2_dsp(const ember_lines_run_dsp_t *run,
                                          const ember_real_dsp_t *by) {
    register const ember_lines_run_dsp_t *r0 __asm__("r0") = run;
    register float s0 __asm__("s0") = by->scale;
    register float s1 __asm__("s1") = by->inverse;

    __asm__ volatile(EMBER_LINES_BEGIN_DSP EMBER_LINES_SUMS_2_DSP //
                     "vmov s2, r12\n\t"
                     "ldr r11, [sp, #16]\n\t"
                     "vcvt.f32.s32 s2, s2\n\t"
                     "vmul.f32 s2, s2, s0\n\t"
                     "vmul.f32 s2, s2, s1\n\t"
                     "vcvtr.s32.f32 s2, s2\n\t"
                     "vmov r12, s2\n\t"
                     "qadd r12, r12, r2\n\t"
                     "ssat r12, #8, r12\n\t" EMBER_LINES_STORE_2_DSP
                     : "+r"(r0)
                     : "t"(s0), "t"(s1)
                     : "r1", "r2", "r3", "r12", "lr", "s2", "cc", "memory");
}
#else
enum { EMBER_LINES_REAL_DSP = 0 };

static inline void ember_lines_real_1_dsp(const ember_lines_run_dsp_t *run,
                                          const ember_real_dsp_t *by) {
    (void)run, (void)by;
}

static inline void ember_lines_real_2_dsp(const ember_lines_run_dsp_t *run,
                                          const ember_real_dsp_t *by) {
    (void)run, (void)by;
}
#endif

#endif // EMBER_INTRINSICS_ARM_DSP_LINES_H
