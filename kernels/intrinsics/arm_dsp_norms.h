// SPDX-License-Identifier: Apache-2.0
// Sums and lines of int8, four at a time. kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_NORMS_H
#define EMBER_INTRINSICS_ARM_DSP_NORMS_H

#include <arm_dsp.h>

// Adds eight elements of each of `pairs` > 0 pairs of words.
static inline void ember_norm_sums_dsp(const int8_t *x, uint32_t pairs, int32_t *sum,
                                       uint32_t *squares) {
    const uint32_t ones = 0x00010001u;
    uint32_t w, v, a;

    __asm__("1:\n\t"
            "ldr %[w], [%[x]], #4\n\t"
            "ldr %[v], [%[x]], #4\n\t"
            "sxtb16 %[a], %[w]\n\t"
            "sxtb16 %[w], %[w], ror #8\n\t"
            "smlad %[q], %[a], %[a], %[q]\n\t"
            "sxtab16 %[a], %[a], %[v]\n\t"
            "smlad %[q], %[w], %[w], %[q]\n\t"
            "sxtab16 %[w], %[w], %[v], ror #8\n\t"
            "smlad %[s], %[a], %[ones], %[s]\n\t"
            "smlad %[s], %[w], %[ones], %[s]\n\t"
            "sxtb16 %[a], %[v]\n\t"
            "sxtb16 %[v], %[v], ror #8\n\t"
            "smlad %[q], %[a], %[a], %[q]\n\t"
            "smlad %[q], %[v], %[v], %[q]\n\t"
            "subs %[n], #1\n\t"
            "bne 1b"
            : [x] "+r"(x), [n] "+r"(pairs), [s] "+r"(*sum), [q] "+r"(*squares),
              [w] "=&r"(w), [v] "=&r"(v), [a] "=&r"(a)
            : [ones] "r"(ones)
            : "cc", "memory");
}

// Elements of a row, y = ssat8((R(x * multiplier + start, g) + b) >> 8), where R(a, b)
// is the upper half of a product, rounded, and sums wrap.
typedef struct ember_norm_row_dsp {
    const int8_t *x;
    const int32_t *g;
    const int32_t *b;
    int8_t *y;
    const int8_t *end; // of y, a multiple of eight > 0 behind it
    int32_t multiplier;
    int32_t start;
} ember_norm_row_dsp_t;

// Two elements of r7, of these bytes, with r8 .. r11.
#define EMBER_NORM_PAIR_DSP(first, second)                                             \
    "ldr r8, [r1], #4\n\t"                                                             \
    "ldr r9, [r2], #4\n\t"                                                             \
    "ldr r10, [r1], #4\n\t"                                                            \
    "ldr r11, [r2], #4\n\t"                                                            \
    "sxtb r12, r7, ror #" first "\n\t"                                                 \
    "sxtb r14, r7, ror #" second "\n\t"                                                \
    "mla r12, r12, r5, r6\n\t"                                                         \
    "mla r14, r14, r5, r6\n\t"                                                         \
    "smmlar r9, r12, r8, r9\n\t"                                                       \
    "smmlar r11, r14, r10, r11\n\t"                                                    \
    "ssat r9, #8, r9, asr #8\n\t"                                                      \
    "ssat r11, #8, r11, asr #8\n\t"                                                    \
    "bfi r7, r9, #" first ", #8\n\t"                                                   \
    "bfi r7, r11, #" second ", #8\n\t"

static inline void ember_norm_row_dsp(const ember_norm_row_dsp_t *row) {
    register const ember_norm_row_dsp_t *r0 __asm__("r0") = row;

    __asm__ volatile("push {r4-r11}\n\t"
                     "ldmia r0, {r0-r6}\n\t"
                     "1:\n\t"
                     ".rept 2\n\t"
                     "ldr r7, [r0], #4\n\t" EMBER_NORM_PAIR_DSP("0", "8")
                         EMBER_NORM_PAIR_DSP("16", "24") "str r7, [r3], #4\n\t"
                                                         ".endr\n\t"
                                                         "cmp r3, r4\n\t"
                                                         "bne 1b\n\t"
                                                         "pop {r4-r11}"
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

// Adds four neighbouring bytes of `count` words, 1 .. 255, which are `step` bytes
// apart: each by itself.
static inline void ember_norm_channels_dsp(const int8_t *x, int32_t step,
                                           uint32_t count, int32_t *sums,
                                           uint32_t *squares) {
    uint32_t even = 0, odd = 0, w, a;
    uint32_t q0 = squares[0], q1 = squares[1], q2 = squares[2], q3 = squares[3];

    __asm__("1:\n\t"
            "ldr %[w], [%[x]]\n\t"
            "add %[x], %[step]\n\t"
            "sxtab16 %[even], %[even], %[w]\n\t"
            "sxtab16 %[odd], %[odd], %[w], ror #8\n\t"
            "sxtb16 %[a], %[w]\n\t"
            "sxtb16 %[w], %[w], ror #8\n\t"
            "smlabb %[q0], %[a], %[a], %[q0]\n\t"
            "smlatt %[q2], %[a], %[a], %[q2]\n\t"
            "smlabb %[q1], %[w], %[w], %[q1]\n\t"
            "smlatt %[q3], %[w], %[w], %[q3]\n\t"
            "subs %[n], #1\n\t"
            "bne 1b"
            : [x] "+r"(x), [n] "+r"(count), [even] "+r"(even), [odd] "+r"(odd),
              [q0] "+r"(q0), [q1] "+r"(q1), [q2] "+r"(q2), [q3] "+r"(q3), [w] "=&r"(w),
              [a] "=&r"(a)
            : [step] "r"(step)
            : "cc", "memory");
    sums[0] += (int16_t)(uint16_t)even;
    sums[1] += (int16_t)(uint16_t)odd;
    sums[2] += (int16_t)(uint16_t)(even >> 16);
    sums[3] += (int16_t)(uint16_t)(odd >> 16);
    squares[0] = q0;
    squares[1] = q1;
    squares[2] = q2;
    squares[3] = q3;
}

// Words `step` bytes apart, whose bytes have lines of their own:
// y = ssat8((x * slope + start) >> shift).
typedef struct ember_norm_lines_dsp {
    const int8_t *x;
    int8_t *y;
    int32_t step;
    int32_t rounds;   // 256 times those after the first, and the shift
    int32_t lines[8]; // slope and start of each byte
} ember_norm_lines_dsp_t;

// The byte `at` of r12.
#define EMBER_NORM_LINE_DSP(at, slope, start)                                          \
    "sxtb r14, r12, ror #" at "\n\t"                                                   \
    "mla r14, r14, " slope ", " start "\n\t"                                           \
    "asr r14, r14, r3\n\t"                                                             \
    "ssat r14, #8, r14\n\t"                                                            \
    "bfi r12, r14, #" at ", #8\n\t"

static inline void ember_norm_lines_dsp(const ember_norm_lines_dsp_t *task) {
    register const ember_norm_lines_dsp_t *r0 __asm__("r0") = task;

    __asm__ volatile("push {r4-r11}\n\t"
                     "ldmia r0, {r0-r11}\n\t"
                     "sub r1, r0\n\t"
                     "1:\n\t"
                     "ldr r12, [r0]\n\t"                     //
                     EMBER_NORM_LINE_DSP("0", "r4", "r5")    //
                     EMBER_NORM_LINE_DSP("8", "r6", "r7")    //
                     EMBER_NORM_LINE_DSP("16", "r8", "r9")   //
                     EMBER_NORM_LINE_DSP("24", "r10", "r11") //
                     "str r12, [r0, r1]\n\t"
                     "add r0, r2\n\t"
                     "subs r3, #256\n\t"
                     "bpl 1b\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

// The same of y = ssat8(((x - zero_point) * factor + start) >> shift), where `factor`
// is `positive`, or the slope of a byte that is below the zero point.
typedef struct ember_prelu_lines_dsp {
    const int8_t *x;
    int8_t *y;
    int32_t step;
    int32_t rounds; // 256 times those after the first, and the shift
    int32_t slopes[4];
    int32_t zero_point;
    int32_t positive;
    int32_t start;
} ember_prelu_lines_dsp_t;

// The byte `at` of r11.
#define EMBER_PRELU_LINE_DSP(at, slope)                                                \
    "sxtb r12, r11, ror #" at "\n\t"                                                   \
    "subs r12, r12, r8\n\t"                                                            \
    "ite pl\n\t"                                                                       \
    "mlapl r12, r12, r9, r10\n\t"                                                      \
    "mlami r12, r12, " slope ", r10\n\t"                                               \
    "asr r12, r12, r3\n\t"                                                             \
    "ssat r12, #8, r12\n\t"                                                            \
    "bfi r11, r12, #" at ", #8\n\t"

static inline void ember_prelu_lines_dsp(const ember_prelu_lines_dsp_t *task) {
    register const ember_prelu_lines_dsp_t *r0 __asm__("r0") = task;

    __asm__ volatile("push {r4-r11}\n\t"
                     "ldmia r0, {r0-r10}\n\t"
                     "sub r1, r0\n\t"
                     "1:\n\t"
                     "ldr r11, [r0]\n\t"              //
                     EMBER_PRELU_LINE_DSP("0", "r4")  //
                     EMBER_PRELU_LINE_DSP("8", "r5")  //
                     EMBER_PRELU_LINE_DSP("16", "r6") //
                     EMBER_PRELU_LINE_DSP("24", "r7") //
                     "str r11, [r0, r1]\n\t"
                     "add r0, r2\n\t"
                     "subs r3, #256\n\t"
                     "bpl 1b\n\t"
                     "pop {r4-r11}"
                     : "+r"(r0)
                     :
                     : "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_DSP_NORMS_H
