// SPDX-License-Identifier: Apache-2.0
// Float rows to int8, with a scale and a zero point for each.
#include "block.h"

static inline __attribute__((always_inline)) svfloat32_t
load(const void *x, size_t at, uint32_t vector, svbool_t some,
     bool half) __arm_streaming __arm_preserves("za") {
    if (!half) {
        return svld1_vnum_f32(some, (const float *)x + at, vector);
    }
    const svuint32_t bits = svld1uh_vnum_u32(some, (const uint16_t *)x + at, vector);
    return svcvt_f32_f16_x(svptrue_b32(), svreinterpret_f16_u32(bits));
}

static inline __attribute__((always_inline)) ember_xnn_limits_t find_limits(
    const void *x, uint32_t length, bool half) __arm_streaming __arm_preserves("za") {
    const uint32_t words = (uint32_t)svcntw();
    const svbool_t all = svptrue_b32();
    svfloat32_t low = svdup_f32(0.0f);
    svfloat32_t high = low;
    const size_t whole = length / (4 * words) * (4 * words);
    size_t i = 0;
    for (; i < whole; i += 4 * words) {
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; j++) {
            const svfloat32_t one = load(x, i, j, all, half);
            low = svmin_f32_x(all, low, one);
            high = svmax_f32_x(all, high, one);
        }
    }
    for (; i < length; i += words) {
        const svbool_t some = svwhilelt_b32_u32((uint32_t)i, length);
        const svfloat32_t one = load(x, i, 0, some, half);
        low = svmin_f32_x(all, low, one); // zeros beyond the end: no change
        high = svmax_f32_x(all, high, one);
    }
    return (ember_xnn_limits_t){svminv_f32(all, low), svmaxv_f32(all, high)};
}

// How values of a row become elements. `bounded` if one may be rounded past the range,
// or is NaN.
typedef struct rounding {
    float factor;
    ember_xnn_range_t range;
    bool half;
    bool bounded;
} rounding_t;

// In its low byte the rounded number, without the zero point.
static inline __attribute__((always_inline)) svint32_t
round_one(const rounding_t *to, svfloat32_t x) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    svfloat32_t y = svmul_n_f32_x(all, x, to->factor);
    if (to->bounded) {
        y = svmaxnm_f32_x(all, y, svdup_f32(to->range.low));
        y = svminnm_f32_x(all, y, svdup_f32(to->range.high));
    }
    const svfloat32_t magic = svdup_f32(12582912.0f); // 1.5 * 2^23
    return svreinterpret_s32_f32(svadd_f32_x(all, y, magic));
}

// Two vectors of values as low bytes of halfwords.
static inline __attribute__((always_inline)) svint16_t
round_two(const rounding_t *to, const void *x, size_t at,
          uint32_t vector) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svint32_t q0 = round_one(to, load(x, at, vector, all, to->half));
    const svint32_t q1 = round_one(to, load(x, at, vector + 1, all, to->half));
    return svuzp1_s16(svreinterpret_s16_s32(q0), svreinterpret_s16_s32(q1));
}

static inline __attribute__((always_inline)) void
quantize(const rounding_t *to, const void *x, int8_t *y,
         uint32_t length) __arm_streaming __arm_preserves("za") {
    const uint32_t words = (uint32_t)svcntw();
    const svbool_t all = svptrue_b8();
    const size_t whole = length / (4 * words) * (4 * words);
    size_t i = 0;
    for (; i < whole; i += 4 * words) {
        const svint8_t q = svuzp1_s8(svreinterpret_s8_s16(round_two(to, x, i, 0)),
                                     svreinterpret_s8_s16(round_two(to, x, i, 2)));
        svst1_s8(all, y + i, svadd_n_s8_x(all, q, (int8_t)to->range.zero));
    }
    for (; i < length; i += words) {
        const svbool_t some = svwhilelt_b32_u32((uint32_t)i, length);
        const svint32_t q = round_one(to, load(x, i, 0, some, to->half));
        svst1b_s32(some, y + i, svadd_n_s32_x(svptrue_b32(), q, to->range.zero));
    }
}

// Each kind of rounding has its own loops.
static void quantize_as(const rounding_t *to, const void *x, int8_t *y,
                        uint32_t length) __arm_streaming __arm_preserves("za") {
    rounding_t own = {to->factor, to->range, true, true};
    if (to->half) {
        quantize(&own, x, y, length);
    } else if (to->bounded) {
        own.half = false;
        quantize(&own, x, y, length);
    } else {
        own.half = false;
        own.bounded = false;
        quantize(&own, x, y, length);
    }
}

// Like xnn_half_factor(), which cannot be called in this mode.
static float half_factor(float factor) __arm_streaming {
    return (float)(_Float16)factor;
}

static void quantize_row(const ember_xnn_sme_quantize_t *job,
                         uint32_t row) __arm_streaming __arm_preserves("za") {
    const size_t at = (size_t)row * job->length;
    const void *x = (const uint8_t *)job->x + at * (job->half ? 2 : 4);
    const ember_xnn_limits_t limits = job->half ? find_limits(x, job->length, true)
                                                : find_limits(x, job->length, false);
    int32_t zero;
    const float exact = xnn_find_parameters(&limits, &zero);
    const float factor = job->half ? half_factor(exact) : exact;
    const float low = (float)(INT8_MIN - zero);
    const float high = (float)(INT8_MAX - zero);
    const bool fits =
        limits.low * factor > low - 0.5f && limits.high * factor < high + 0.5f;
    const rounding_t to = {factor, {low, high, zero}, job->half, !fits};
    job->rows[row] = (ember_xnn_row_t){1.0f / exact, zero};
    quantize_as(&to, x, job->y + at, job->length);
}

// Not inlined, see gemm.c.
__attribute__((noinline)) static void
run(const ember_xnn_sme_quantize_t *job) __arm_streaming __arm_preserves("za") {
    for (uint32_t row = 0; row < job->count; row++) {
        quantize_row(job, row);
    }
}

__arm_new("za") __arm_locally_streaming void ember_xnn_sme_quantize(
    const ember_xnn_sme_quantize_t *job) {
    run(job);
}

__attribute__((noinline)) static void
run_fixed(const ember_xnn_sme_quantize_t *job, float factor,
          const ember_xnn_range_t *range) __arm_streaming __arm_preserves("za") {
    const rounding_t to = {factor, *range, job->half, true};
    quantize_as(&to, job->x, job->y, job->length);
}

__arm_new("za") __arm_locally_streaming void ember_xnn_sme_quantize_fixed(
    const ember_xnn_sme_quantize_t *job, float factor, const ember_xnn_range_t *range) {
    run_fixed(job, factor, range);
}
