// SPDX-License-Identifier: Apache-2.0
// Float rows to int8, with a scale and a zero point for each.
#include "block.h"

static inline __attribute__((always_inline)) svfloat32_t
load(const ember_xnn_sme_quantize_t *job, size_t at, uint32_t vector, svbool_t some,
     bool half) __arm_streaming __arm_preserves("za") {
    if (!half) {
        return svld1_vnum_f32(some, (const float *)job->x + at, vector);
    }
    const svuint32_t bits =
        svld1uh_vnum_u32(some, (const uint16_t *)job->x + at, vector);
    return svcvt_f32_f16_x(svptrue_b32(), svreinterpret_f16_u32(bits));
}

// NaN counts as nothing.
static inline __attribute__((always_inline)) ember_xnn_limits_t
find_limits(const ember_xnn_sme_quantize_t *job, size_t at,
            bool half) __arm_streaming __arm_preserves("za") {
    const uint32_t words = (uint32_t)svcntw();
    const svbool_t all = svptrue_b32();
    svfloat32_t low = svdup_f32(0.0f);
    svfloat32_t high = low;
    uint32_t i = 0;
    for (; i + 4 * words <= job->length; i += 4 * words) {
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; j++) {
            const svfloat32_t x = load(job, at + i, j, all, half);
            low = svminnm_f32_x(all, low, x);
            high = svmaxnm_f32_x(all, high, x);
        }
    }
    for (; i < job->length; i += words) {
        const svbool_t some = svwhilelt_b32_u32(i, job->length);
        const svfloat32_t x = load(job, at + i, 0, some, half);
        low = svminnm_f32_x(all, low, x); // zeros beyond the end: no change
        high = svmaxnm_f32_x(all, high, x);
    }
    return (ember_xnn_limits_t){svminnmv_f32(all, low), svmaxnmv_f32(all, high)};
}

// In its low byte the rounded number, in bounds, without the zero point.
static inline svint32_t
round_to(svfloat32_t x, svfloat32_t factor, svfloat32_t low,
         svfloat32_t high) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t half = svdup_f32(12582912.0f); // 1.5 * 2^23
    const svfloat32_t y = svmaxnm_f32_x(all, svmul_f32_x(all, x, factor), low);
    return svreinterpret_s32_f32(svadd_f32_x(all, svminnm_f32_x(all, y, high), half));
}

static inline __attribute__((always_inline)) void
quantize(const ember_xnn_sme_quantize_t *job, size_t at, float by,
         const ember_xnn_range_t *range,
         bool half) __arm_streaming __arm_preserves("za") {
    const int32_t zero = range->zero;
    const uint32_t words = (uint32_t)svcntw();
    const svbool_t all = svptrue_b32();
    const svfloat32_t factor = svdup_f32(by);
    const svfloat32_t low = svdup_f32(range->low);
    const svfloat32_t high = svdup_f32(range->high);
    uint32_t i = 0;
    for (; i + 4 * words <= job->length; i += 4 * words) {
        const size_t from = at + i;
        const svint32_t q0 = round_to(load(job, from, 0, all, half), factor, low, high);
        const svint32_t q1 = round_to(load(job, from, 1, all, half), factor, low, high);
        const svint32_t q2 = round_to(load(job, from, 2, all, half), factor, low, high);
        const svint32_t q3 = round_to(load(job, from, 3, all, half), factor, low, high);
        const svint16_t h0 =
            svuzp1_s16(svreinterpret_s16_s32(q0), svreinterpret_s16_s32(q1));
        const svint16_t h1 =
            svuzp1_s16(svreinterpret_s16_s32(q2), svreinterpret_s16_s32(q3));
        const svint8_t q =
            svuzp1_s8(svreinterpret_s8_s16(h0), svreinterpret_s8_s16(h1));
        svst1_s8(svptrue_b8(), job->y + from,
                 svadd_n_s8_x(svptrue_b8(), q, (int8_t)zero));
    }
    for (; i < job->length; i += words) {
        const svbool_t some = svwhilelt_b32_u32(i, job->length);
        const svfloat32_t x = load(job, at + i, 0, some, half);
        const svint32_t q = round_to(x, factor, low, high);
        svst1b_s32(some, job->y + at + i, svadd_n_s32_x(all, q, zero));
    }
}

// As xnn_half_factor(), which this mode cannot call.
static float half_factor(float factor) __arm_streaming {
    return (float)(_Float16)factor;
}

// Not inlined, see gemm.c.
__attribute__((noinline)) static void
run(const ember_xnn_sme_quantize_t *job) __arm_streaming __arm_preserves("za") {
    size_t at = 0;
    for (uint32_t row = 0; row < job->count; row++, at += job->length) {
        const ember_xnn_limits_t limits =
            job->half ? find_limits(job, at, true) : find_limits(job, at, false);
        int32_t zero;
        const float factor = xnn_find_parameters(&limits, &zero);
        job->rows[row] = (ember_xnn_row_t){1.0f / factor, zero};
        const ember_xnn_range_t range = {
            .low = (float)(INT8_MIN - zero),
            .high = (float)(INT8_MAX - zero),
            .zero = zero,
        };
        if (job->half) {
            quantize(job, at, half_factor(factor), &range, true);
        } else {
            quantize(job, at, factor, &range, false);
        }
    }
}

__arm_new("za") __arm_locally_streaming void ember_xnn_sme_quantize(
    const ember_xnn_sme_quantize_t *job) {
    run(job);
}

__attribute__((noinline)) static void
run_fixed(const ember_xnn_sme_quantize_t *job, float factor,
          const ember_xnn_range_t *range) __arm_streaming __arm_preserves("za") {
    if (job->half) {
        quantize(job, 0, factor, range, true);
    } else {
        quantize(job, 0, factor, range, false);
    }
}

__arm_new("za") __arm_locally_streaming void ember_xnn_sme_quantize_fixed(
    const ember_xnn_sme_quantize_t *job, float factor, const ember_xnn_range_t *range) {
    run_fixed(job, factor, range);
}
