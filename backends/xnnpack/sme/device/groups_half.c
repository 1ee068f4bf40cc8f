// SPDX-License-Identifier: Apache-2.0
// Rows with scales per block of weights, to float16: four sums of a row and a column
// (numbers.h). Of four elements that an SDOT adds, two are set to zero.
#include "groups.h"

// For one vector of columns.
typedef svint32x4_t whole_t;
typedef svfloat32x4_t real_t;

static inline svint8_t half_of(svint8_t x,
                               uint32_t pair) __arm_streaming __arm_preserves("za") {
    const svuint32_t all = svreinterpret_u32_s8(x);
    return svreinterpret_s8_u32(svand_n_u32_x(svptrue_b32(), all, pair));
}

// Adds the products of a word of weights and eight elements of x from word 2 * `at` on:
// pairs of them, separately.
static inline __attribute__((always_inline)) whole_t
add_word(whole_t sums, svuint32_t word, svint8_t x0, svint8_t x1,
         bool second) __arm_streaming __arm_preserves("za") {
    const svint8_t w = svreinterpret_s8_u32(word);
    const svint8_t low = svlsl_n_s8_x(svptrue_b8(), w, 4);
    const svint8_t high = svand_n_s8_x(svptrue_b8(), w, -16);
    const svint32_t s0 = svget4_s32(sums, 0), s1 = svget4_s32(sums, 1);
    const svint32_t s2 = svget4_s32(sums, 2), s3 = svget4_s32(sums, 3);
    return second ? svcreate4_s32(svdot_lane_s32(s0, low, x0, 2),
                                  svdot_lane_s32(s1, low, x1, 2),
                                  svdot_lane_s32(s2, high, x0, 3),
                                  svdot_lane_s32(s3, high, x1, 3))
                  : svcreate4_s32(svdot_lane_s32(s0, low, x0, 0),
                                  svdot_lane_s32(s1, low, x1, 0),
                                  svdot_lane_s32(s2, high, x0, 1),
                                  svdot_lane_s32(s3, high, x1, 1));
}

static inline svfloat32_t add(svfloat32_t sum, svint32_t own,
                              svfloat32_t scale) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    return svmla_f32_x(all, sum, svcvt_f32_s32_x(all, own), scale);
}

// Adds a block's sums times its scales, which are the upper halves of `word`.
static inline __attribute__((always_inline)) real_t add_block(
    real_t sums, whole_t own, svint32_t word) __arm_streaming __arm_preserves("za") {
    const svfloat32_t scale =
        svcvtlt_f32_f16_x(svptrue_b32(), svreinterpret_f16_s32(word));
    return svcreate4_f32(add(svget4_f32(sums, 0), svget4_s32(own, 0), scale),
                         add(svget4_f32(sums, 1), svget4_s32(own, 1), scale),
                         add(svget4_f32(sums, 2), svget4_s32(own, 2), scale),
                         add(svget4_f32(sums, 3), svget4_s32(own, 3), scale));
}

static inline svfloat32_t sum_of(real_t sums) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t x = svadd_f32_x(all, svget4_f32(sums, 0), svget4_f32(sums, 1));
    const svfloat32_t y = svadd_f32_x(all, svget4_f32(sums, 2), svget4_f32(sums, 3));
    return svadd_f32_x(all, x, y);
}

svfloat32x2_t
xnn_sme_groups_half(const ember_xnn_sme_t *gemm, const int8_t *a, const uint8_t *w,
                    uint32_t columns,
                    svfloat32x2_t starts) __arm_streaming __arm_preserves("za") {
    const svbool_t c0 = svwhilelt_b32_u32(0, columns);
    const svbool_t c1 = svwhilelt_b32_u32((uint32_t)svcntw(), columns);
    const svint32_t none = svdup_s32(0);
    const svfloat32_t zero = svdup_f32(0.0f);
    const uint32_t *from = (const uint32_t *)(const void *)w;
    real_t left = svcreate4_f32(svget2_f32(starts, 0), zero, zero, zero);
    real_t right = svcreate4_f32(svget2_f32(starts, 1), zero, zero, zero);
    for (const int8_t *end = a + gemm->k; a < end;) {
        whole_t s0 = svcreate4_s32(none, none, none, none);
        whole_t s1 = s0;
        for (const int8_t *next = a + gemm->dynamic.block; a < next; a += 16) {
            const svint8_t x = svld1rq_s8(svptrue_b8(), a);
            const svint8_t x0 = half_of(x, 0x0000FFFF), x1 = half_of(x, 0xFFFF0000);
            s0 = add_word(s0, svld1_u32(c0, from), x0, x1, false);
            s1 = add_word(s1, svld1_vnum_u32(c1, from, 1), x0, x1, false);
            from += columns;
            s0 = add_word(s0, svld1_u32(c0, from), x0, x1, true);
            s1 = add_word(s1, svld1_vnum_u32(c1, from, 1), x0, x1, true);
            from += columns;
        }
        const svint32x2_t words = sme_ints((const int32_t *)from, columns);
        left = add_block(left, s0, svget2_s32(words, 0));
        right = add_block(right, s1, svget2_s32(words, 1));
        from += columns;
    }
    return svcreate2_f32(sum_of(left), sum_of(right));
}
