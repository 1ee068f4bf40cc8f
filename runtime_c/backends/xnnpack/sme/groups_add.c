// SPDX-License-Identifier: Apache-2.0
// Sums of blocks of weights with a scale each. XNNPACK begins a sum with the zero point
// times xnn_group_start(), and adds the products of elements that count from -128 on,
// block after block, each times its scale in one rounding.
//
// Outer products of float16, which are elements without zero points and weights times
// scales, add two products in one step. Where all of XNNPACK's sums, and ours, are
// multiples of the last bit of a column's smallest scale below 2^24 of it, nothing is
// rounded either way, and both end at the same number. That holds for a part of k when
// a bound of the sums so far, the product of the norms of row and column, and what the
// zero point adds, do not exceed the limit. The bound grows with each part; when it
// reaches the limit the sums are looked at, which are much smaller.
//
// From the first part on for which it cannot be told, blocks are summed from zero and
// added as XNNPACK does. Sums of 32 products are exact always; of larger blocks where
// the limit says so; else rows are multiplied one by one.
#include "groups.h"

// Numbers of a part of k, or before the parts.
static svfloat32x2_t numbers(const groups_t *groups, uint32_t part,
                             uint32_t number) __arm_streaming __arm_preserves("za") {
    const uint32_t at = XNN_SME_GROUP_PARTS + XNN_SME_GROUP_NUMBERS * part + number;
    return sme_floats(groups->extra + (size_t)at * groups->columns, groups->columns);
}

static const float *
norms_of(const groups_t *groups) __arm_streaming __arm_preserves("za") {
    return groups->norms + (size_t)(groups->row / groups->most) * (groups->parts + 1);
}

// The parts from `part` on, at least up to which nothing is rounded when the magnitudes
// of sums are no more than `bound`.
static uint32_t find_end(const groups_t *groups, uint32_t part, svfloat32x2_t bound,
                         float reaches) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const float *norms = norms_of(groups);
    const float zero = reaches * norms[groups->parts];
    const svfloat32x2_t limit = sme_floats(
        groups->extra + (size_t)XNN_SME_GROUP_LIMIT * groups->columns, groups->columns);
    svfloat32_t t0 = svget2_f32(bound, 0);
    svfloat32_t t1 = svget2_f32(bound, 1);
    for (; part < groups->parts; part++) {
        const svfloat32x2_t norm = numbers(groups, part, XNN_SME_GROUP_NORM);
        const svfloat32x2_t reach = numbers(groups, part, XNN_SME_GROUP_REACH);
        t0 = svmla_n_f32_x(all, t0, svget2_f32(norm, 0), norms[part]);
        t1 = svmla_n_f32_x(all, t1, svget2_f32(norm, 1), norms[part]);
        const svfloat32_t m0 = svmla_n_f32_x(all, t0, svget2_f32(reach, 0), zero);
        const svfloat32_t m1 = svmla_n_f32_x(all, t1, svget2_f32(reach, 1), zero);
        const svbool_t past = svorr_b_z(all, svcmpgt_f32(all, m0, svget2_f32(limit, 0)),
                                        svcmpgt_f32(all, m1, svget2_f32(limit, 1)));
        if (svptest_any(all, past)) {
            break;
        }
    }
    return part;
}

// No less than the magnitudes of four norms.
static svfloat32_t largest(svfloat32_t s0, svfloat32_t s1, svfloat32_t s2,
                           svfloat32_t s3) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t most =
        svmax_f32_x(all, svmax_f32_x(all, s0, s1), svmax_f32_x(all, s2, s3));
    return svmul_n_f32_x(all, svsqrt_f32_x(all, most), 1.001f);
}

static inline __attribute__((always_inline)) svfloat32_t
square(svfloat32_t sum, bool lower, bool right,
       uint32_t i) __arm_streaming __arm_inout("za") {
    const svfloat32_t x = svreinterpret_f32_s32(sme_row(lower, right, i));
    return svmla_f32_x(svptrue_b32(), sum, x, x);
}

// No less than the magnitudes of columns: norms of every fourth row.
static svfloat32x2_t
magnitudes(const groups_t *groups) __arm_streaming __arm_inout("za") {
    const uint32_t rows = groups->most / 2;
    svfloat32_t l0 = svdup_f32(0.0f), l1 = l0, l2 = l0, l3 = l0;
    svfloat32_t r0 = l0, r1 = l0, r2 = l0, r3 = l0;
    for (uint32_t i = 0; i < rows; i += 4) {
#pragma clang loop unroll(full)
        for (uint32_t lower = 0; lower < 2; lower++) {
            l0 = square(l0, lower, false, i);
            l1 = square(l1, lower, false, i + 1);
            l2 = square(l2, lower, false, i + 2);
            l3 = square(l3, lower, false, i + 3);
            r0 = square(r0, lower, true, i);
            r1 = square(r1, lower, true, i + 1);
            r2 = square(r2, lower, true, i + 2);
            r3 = square(r3, lower, true, i + 3);
        }
    }
    return svcreate2_f32(largest(l0, l1, l2, l3), largest(r0, r1, r2, r3));
}

// Products of k from `k` to `end`.
static void multiply(const groups_t *groups, uint32_t k,
                     uint32_t end) __arm_streaming __arm_inout("za") {
    const size_t row = 2 * (size_t)groups->row * groups->gemm->k;
    const uint8_t *a = groups->a + row + 2 * (size_t)k * groups->rows;
    const uint8_t *w = groups->w + 2 * (size_t)k * groups->columns;
    if (groups->rows == groups->most && groups->columns == groups->most) {
        xnn_sme_f16_whole(a, w, (end - k) / 2);
    } else {
        xnn_sme_f16_part(a, w, (end - k) / 2, groups->rows, groups->columns);
    }
}

static uint32_t end_of(const groups_t *groups,
                       uint32_t parts) __arm_streaming __arm_preserves("za") {
    const uint32_t k = groups->part * parts;
    return k < groups->gemm->k ? k : groups->gemm->k;
}

// Adds parts while nothing is rounded; how many.
static uint32_t add_parts(const groups_t *groups) __arm_streaming __arm_inout("za") {
    svfloat32x2_t bound = svcreate2_f32(svdup_f32(0.0f), svdup_f32(0.0f));
    uint32_t part = 0;
    for (;;) {
        const uint32_t end = find_end(groups, part, bound, 1.0f);
        if (end == part) {
            return part;
        }
        multiply(groups, end_of(groups, part), end_of(groups, end));
        if (end == groups->parts) {
            return end;
        }
        part = end;
        bound = magnitudes(groups);
    }
}

// --- block after block ---------------------------------------------------------------

// Tiles to memory, plus zero points times `more` of columns: added to what is there, or
// in its place.
static void add_tiles(const groups_t *groups, svfloat32x2_t more,
                      bool there) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const uint32_t half = groups->most / 2;
    float *sums = groups->sums;
    for (uint32_t i = 0; i < groups->rows; i++, sums += groups->most) {
        const bool lower = i >= half;
        const uint32_t row = lower ? i - half : i;
        const svint32_t left =
            lower ? sme_row(true, false, row) : sme_row(false, false, row);
        const svint32_t right =
            lower ? sme_row(true, true, row) : sme_row(false, true, row);
        const float zero = groups->zeros[groups->row + i];
        svfloat32_t x0 =
            svmla_n_f32_x(all, svreinterpret_f32_s32(left), svget2_f32(more, 0), zero);
        svfloat32_t x1 =
            svmla_n_f32_x(all, svreinterpret_f32_s32(right), svget2_f32(more, 1), zero);
        if (there) {
            x0 = svadd_f32_x(all, svld1_f32(all, sums), x0);
            x1 = svadd_f32_x(all, svld1_vnum_f32(all, sums, 1), x1);
        }
        svst1_f32(all, sums, x0);
        svst1_vnum_f32(all, sums, 1, x1);
    }
}

static void load_tiles(const groups_t *groups) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const size_t half = groups->most / 2;
    const float *upper = groups->sums;
    const float *lower = groups->sums + half * groups->most;
    for (uint32_t i = 0; i < half; i++, upper += groups->most, lower += groups->most) {
        svld1_hor_za32(0, i, all, upper);
        svld1_hor_za32(1, i, all, upper + half);
        svld1_hor_za32(2, i, all, lower);
        svld1_hor_za32(3, i, all, lower + half);
    }
}

// What a zero point of one adds with the block whose words are before `words`.
static svfloat32_t block_start(const int32_t *words,
                               svbool_t some) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svint32_t word = svld1_s32(some, words);
    const svfloat32_t sum = svcvt_f32_s32_x(all, svexth_s32_x(all, word));
    const svfloat32_t scale = svcvtlt_f32_f16_x(all, svreinterpret_f16_s32(word));
    return svmul_f32_x(all, sum, svmul_n_f32_x(all, scale, 0x1p12f));
}

static void add_blocks(const groups_t *groups,
                       uint32_t part) __arm_streaming __arm_inout("za") {
    const ember_xnn_sme_t *gemm = groups->gemm;
    const uint32_t half = groups->most / 2;
    const size_t step = gemm->block / 8 + 1; // words of a block
    const int32_t *words = (const int32_t *)(const void *)groups->from;
    add_tiles(groups, numbers(groups, part, XNN_SME_GROUP_START), false);
    for (uint32_t k = end_of(groups, part); k < gemm->k; k += gemm->block) {
        const int32_t *last =
            words + (k / gemm->block * step + step - 1) * groups->columns;
        svzero_za();
        multiply(groups, k, k + gemm->block);
        add_tiles(
            groups,
            svcreate2_f32(
                block_start(last, svwhilelt_b32_u32(0, groups->columns)),
                block_start(last + half, svwhilelt_b32_u32(half, groups->columns))),
            true);
    }
    load_tiles(groups);
}

// Are sums of all blocks from this part on exact? A block adds no more of the zero
// point than its sums before and after have.
static bool exact_blocks(const groups_t *groups,
                         uint32_t part) __arm_streaming __arm_preserves("za") {
    enum { ALWAYS = 32 };
    const svfloat32x2_t none = svcreate2_f32(svdup_f32(0.0f), svdup_f32(0.0f));
    if (groups->gemm->block <= ALWAYS) {
        return true;
    }
    for (; part < groups->parts; part++) {
        if (find_end(groups, part, none, 2.0f) == part) {
            return false;
        }
    }
    return true;
}

bool xnn_sme_groups_add(const groups_t *groups) __arm_streaming __arm_inout("za") {
    svzero_za();
    const uint32_t part = add_parts(groups);
    if (part < groups->parts) {
        if (!exact_blocks(groups, part)) {
            return false;
        }
        add_blocks(groups, part);
    }
    return true;
}
