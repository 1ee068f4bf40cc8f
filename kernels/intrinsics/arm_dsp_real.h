// SPDX-License-Identifier: Apache-2.0
// Sums scaled in float32: scale * sum * inverse, each product rounded, the result
// rounded halves to even, plus the zero point, within int8. kernels/models has the same
// in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_REAL_H
#define EMBER_INTRINSICS_ARM_DSP_REAL_H

#include <arm_dsp.h>

typedef struct ember_real_dsp {
    float scale;
    float inverse;
    int32_t zero_point;
} ember_real_dsp_t;

// Two sums become outputs. VCVTR rounds as the float unit is told to: after a reset,
// halves to even. QADD is of the DSP instructions.
#ifdef __ARM_FP
static inline void ember_real_pair_dsp(int32_t *a, int32_t *b,
                                       const ember_real_dsp_t *by) {
    __asm__("vmov s2, s3, %0, %1\n\t"
            "vcvt.f32.s32 s2, s2\n\t"
            "vcvt.f32.s32 s3, s3\n\t"
            "vmul.f32 s2, s2, %2\n\t"
            "vmul.f32 s3, s3, %2\n\t"
            "vmul.f32 s2, s2, %3\n\t"
            "vmul.f32 s3, s3, %3\n\t"
            "vcvtr.s32.f32 s2, s2\n\t"
            "vcvtr.s32.f32 s3, s3\n\t"
            "vmov %0, %1, s2, s3\n\t"
            "qadd %0, %0, %4\n\t"
            "qadd %1, %1, %4\n\t"
            "ssat %0, #8, %0\n\t"
            "ssat %1, #8, %1"
            : "+r"(*a), "+r"(*b)
            : "t"(by->scale), "t"(by->inverse), "r"(by->zero_point)
            : "s2", "s3", "cc");
}

// Eight sums, r4 to r11, become outputs: s0 is the scale, s1 the inverse, r12 the zero
// point. Clobbers s2 to s9.
#define EMBER_REAL_EIGHT_DSP                                                           \
    "vmov s2, s3, r4, r5\n\t"                                                          \
    "vmov s4, s5, r6, r7\n\t"                                                          \
    "vmov s6, s7, r8, r9\n\t"                                                          \
    "vmov s8, s9, r10, r11\n\t"                                                        \
    ".irp real, s2, s3, s4, s5, s6, s7, s8, s9\n\t"                                    \
    "vcvt.f32.s32 \\real, \\real\n\t"                                                  \
    ".endr\n\t"                                                                        \
    ".irp real, s2, s3, s4, s5, s6, s7, s8, s9\n\t"                                    \
    "vmul.f32 \\real, \\real, s0\n\t"                                                  \
    ".endr\n\t"                                                                        \
    ".irp real, s2, s3, s4, s5, s6, s7, s8, s9\n\t"                                    \
    "vmul.f32 \\real, \\real, s1\n\t"                                                  \
    ".endr\n\t"                                                                        \
    ".irp real, s2, s3, s4, s5, s6, s7, s8, s9\n\t"                                    \
    "vcvtr.s32.f32 \\real, \\real\n\t"                                                 \
    ".endr\n\t"                                                                        \
    "vmov r4, r5, s2, s3\n\t"                                                          \
    "vmov r6, r7, s4, s5\n\t"                                                          \
    "vmov r8, r9, s6, s7\n\t"                                                          \
    "vmov r10, r11, s8, s9\n\t"                                                        \
    ".irp sum, r4, r5, r6, r7, r8, r9, r10, r11\n\t"                                   \
    "qadd \\sum, \\sum, r12\n\t"                                                       \
    ".endr\n\t"                                                                        \
    ".irp sum, r4, r5, r6, r7, r8, r9, r10, r11\n\t"                                   \
    "ssat \\sum, #8, \\sum\n\t"                                                        \
    ".endr\n\t"
#else // products in float32 are calls
static inline int32_t ember_real_one_dsp(int32_t sum, const ember_real_dsp_t *by) {
    const float real = by->scale * (float)sum * by->inverse;
    const float within = real < -512.0f ? -512.0f : real > 512.0f ? 512.0f : real;
    const float rounded = within + 12582912.0f - 12582912.0f; // 1.5 * 2^23
    return __ssat((int32_t)rounded + by->zero_point, 8);
}

static inline void ember_real_pair_dsp(int32_t *a, int32_t *b,
                                       const ember_real_dsp_t *by) {
    *a = ember_real_one_dsp(*a, by);
    *b = ember_real_one_dsp(*b, by);
}
#endif

#endif // EMBER_INTRINSICS_ARM_DSP_REAL_H
