// SPDX-License-Identifier: Apache-2.0
// What NEON kernels share: requantisation of int8 sums, bounds of floats, and float16.
#ifndef EMBER_XNNPACK_NEON_H
#define EMBER_XNNPACK_NEON_H

#include "kernels/engine/neon/fours_neon.h"
#include "numbers.h"

#define XNN_INLINE EMBER_NEON_INLINE

// For up to eight columns from `first` on, whose weights have these sums: the initial
// sums of products, bias - zero * sum, and the scales of the results.
void ember_xnn_neon_columns_qs8(const ember_xnn_node_t *node, const int32_t *sums,
                                uint32_t first, uint32_t count, int32_t *start,
                                float *scales);

// Whether input and output are static int8 with the same scale and zero point, so that
// equal values have equal elements.
static inline bool xnn_neon_same_numbers(const ember_xnn_node_t *node) {
    const ember_xnn_value_t *in = node->in[0], *out = node->out[0];
    return xnn_types(node, XNN_QS8, XNN_QS8) && in->scale == out->scale &&
           in->zero == out->zero && in->scale > 1e-30f && in->scale < 1e30f;
}

// How eight sums become int8. Scales are finite.
typedef struct xnn_neon_round {
    float32x4_t scales[2];
    int16x8_t zero;
    int8x16_t low;
    int8x16_t high;
} xnn_neon_round_t;

static inline xnn_neon_round_t xnn_neon_round(const float *scales,
                                              const ember_xnn_range_t *range) {
    return (xnn_neon_round_t){
        .scales = {vld1q_f32(scales), vld1q_f32(scales + 4)},
        .zero = vdupq_n_s16((int16_t)range->zero),
        .low = vdupq_n_s8((int8_t)((int32_t)range->low + range->zero)),
        .high = vdupq_n_s8((int8_t)((int32_t)range->high + range->zero)),
    };
}

// Rounded to nearest even, with the zero point added; not yet bounded, but the bounds
// hold for what is saturated here, too.
static inline int16x8_t xnn_neon_rounded(int32x4_t s0, int32x4_t s1,
                                         const xnn_neon_round_t *round) {
    const float32x4_t x = vmulq_f32(vcvtq_f32_s32(s0), round->scales[0]);
    const float32x4_t y = vmulq_f32(vcvtq_f32_s32(s1), round->scales[1]);
    const int16x8_t both =
        vqmovn_high_s32(vqmovn_s32(vcvtnq_s32_f32(x)), vcvtnq_s32_f32(y));
    return vqaddq_s16(both, round->zero);
}

// How floats become int8: x * factor, rounded. NaN becomes the lower bound.
typedef struct xnn_neon_quantizer {
    float32x4_t factor;
    float32x4_t low; // before `zero` is added
    int16x8_t zero;
    int8x16_t high;
} xnn_neon_quantizer_t;

static inline xnn_neon_quantizer_t xnn_neon_quantizer(float factor,
                                                      const ember_xnn_range_t *range) {
    return (xnn_neon_quantizer_t){
        .factor = vdupq_n_f32(factor),
        .low = vdupq_n_f32(range->low),
        .zero = vdupq_n_s16((int16_t)range->zero),
        .high = vdupq_n_s8((int8_t)((int32_t)range->high + range->zero)),
    };
}

static inline int32x4_t xnn_neon_round_four(float32x4_t from,
                                            const xnn_neon_quantizer_t *to) {
    return vcvtnq_s32_f32(vmaxnmq_f32(vmulq_f32(from, to->factor), to->low));
}

static inline int16x8_t xnn_neon_round_eight(const float32x4_t *from,
                                             const xnn_neon_quantizer_t *to) {
    const int16x4_t low = vqmovn_s32(xnn_neon_round_four(from[0], to));
    const int16x8_t both = vqmovn_high_s32(low, xnn_neon_round_four(from[1], to));
    return vqaddq_s16(both, to->zero);
}

// For sixteen values.
static inline int8x16_t xnn_neon_quantize(const float32x4_t *from,
                                          const xnn_neon_quantizer_t *to) {
    const int8x8_t low = vqmovn_s16(xnn_neon_round_eight(from, to));
    const int8x16_t both = vqmovn_high_s16(low, xnn_neon_round_eight(from + 2, to));
    return vminq_s8(both, to->high);
}

// Like xnn_clamp().
static inline float32x4_t xnn_neon_clamp(float32x4_t x, const ember_xnn_node_t *node) {
    return neon_between(x, vdupq_n_f32(node->low), vdupq_n_f32(node->high));
}

// Four elements of a float value from `index` on, as float16.
static inline float32x4_t xnn_neon_f16(const ember_xnn_value_t *value, size_t index) {
    if (value->datatype == XNN_F16) {
        return neon_load_f16((const uint16_t *)value->constant + index);
    }
    const float *wide = (const float *)value->constant + index;
    return vcvt_f32_f16(vcvt_f16_f32(vld1q_f32(wide)));
}

#endif // EMBER_XNNPACK_NEON_H
