// SPDX-License-Identifier: Apache-2.0
// Sums of blocks of weights with a scale each. XNNPACK begins a sum with the zero point
// times xnn_group_start(), and adds the products of elements that count from -128 on,
// block after block, each times its scale in one rounding.
//
// Outer products of float16, which are elements without zero points and weights times
// scales, add two products in one step. After a few parts of k their lift, zero points
// times weights, is added, and sums are XNNPACK's again: all are multiples of the last
// bit of a column's smallest scale, and as long as none exceeds the limit, 2^24 of
// that, nothing is rounded either way.
//
// To check this, sums are examined after every few parts. Sums in between are not far
// from the middle of two examined ones: if products add first x and then y, a sum is (x
// - y) / 2 from it, at most half the product of the norms of row and column; lifts
// likewise. If both ends are within the limit minus that spread, nothing was rounded.
// Otherwise parts are added again, block by block.
#include "groups.h"

// --- sums ----------------------------------------------------------------------------

// Adds an outer product.
static void add_outer(svfloat32_t upper, svfloat32_t lower,
                      svfloat32x2_t columns) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    svmopa_za32_f32_m(0, all, all, upper, svget2_f32(columns, 0));
    svmopa_za32_f32_m(1, all, all, upper, svget2_f32(columns, 1));
    svmopa_za32_f32_m(2, all, all, lower, svget2_f32(columns, 0));
    svmopa_za32_f32_m(3, all, all, lower, svget2_f32(columns, 1));
}

void xnn_sme_groups_lift(const groups_t *groups,
                         svfloat32x2_t columns) __arm_streaming __arm_inout("za") {
    const float *zeros = groups->zeros + groups->row;
    const svbool_t r0 = svwhilelt_b32_u32(0, groups->rows);
    const svbool_t r1 = svwhilelt_b32_u32((uint32_t)svcntw(), groups->rows);
    add_outer(svld1_f32(r0, zeros), svld1_vnum_f32(r1, zeros, 1), columns);
}

void xnn_sme_groups_begin(const groups_t *groups) __arm_streaming __arm_inout("za") {
    svzero_za();
    xnn_sme_groups_lift(groups, sme_group_extra(groups, XNN_SME_GROUP_START));
}

void xnn_sme_groups_multiply(const groups_t *groups, uint32_t k,
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

static uint32_t begin_of(const groups_t *groups,
                         uint32_t look) __arm_streaming __arm_preserves("za") {
    return look > 0 ? groups->ends[look - 1] : 0;
}

// Adds what comes before a check to the tiles.
static void add_parts(const groups_t *groups,
                      uint32_t look) __arm_streaming __arm_inout("za") {
    const float *lifts = groups->lifts + (size_t)look * groups->most;
    xnn_sme_groups_multiply(groups, begin_of(groups, look), groups->ends[look]);
    xnn_sme_groups_lift(groups, sme_floats(lifts, groups->most));
}

// --- checks --------------------------------------------------------------------------

// Whether all sums are within the bounds at the beginning.
static bool
begins_within(const groups_t *groups) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const float zero = groups->norms[groups->parts];
    const svfloat32x2_t start = sme_group_extra(groups, XNN_SME_GROUP_START);
    const svfloat32_t t0 = svmul_n_f32_x(all, svget2_f32(start, 0), zero);
    const svfloat32_t t1 = svmul_n_f32_x(all, svget2_f32(start, 1), zero);
    const svbool_t p0 = svacge_f32(all, svld1_f32(all, groups->bounds), t0);
    const svbool_t p1 = svacge_f32(p0, svld1_vnum_f32(all, groups->bounds, 1), t1);
    return !svptest_any(all, svnot_b_z(all, p1));
}

// Columns of half the tiles, all of which are within the bounds.
static inline __attribute__((always_inline)) svbool_t
look_at(const groups_t *groups, bool lower,
        const float *bounds) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t b0 = svld1_f32(all, bounds);
    const svfloat32_t b1 = svld1_vnum_f32(all, bounds, 1);
    svbool_t p0 = all, p1 = all;
    for (uint32_t i = 0; i < groups->most / 2; i += 4) {
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; j++) {
            const svfloat32_t x0 = svreinterpret_f32_s32(sme_row(lower, false, i + j));
            const svfloat32_t x1 = svreinterpret_f32_s32(sme_row(lower, true, i + j));
            p0 = svacge_f32(p0, b0, x0);
            p1 = svacge_f32(p1, b1, x1);
        }
    }
    return svand_b_z(all, p0, p1);
}

static bool is_within(const groups_t *groups,
                      const float *bounds) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    svbool_t within = look_at(groups, false, bounds);
    if (groups->rows > groups->most / 2) {
        within = svand_b_z(all, within, look_at(groups, true, bounds));
    }
    return !svptest_any(all, svnot_b_z(all, within));
}

// --- sums with checks ----------------------------------------------------------------

// Turns sums before a failed check into those after it, from where they were last added
// block by block, which is before check `from`.
static bool add_again(const groups_t *groups, uint32_t from,
                      uint32_t look) __arm_streaming __arm_inout("za") {
    if (from == 0) {
        xnn_sme_groups_begin(groups);
    } else {
        xnn_sme_groups_load(groups);
    }
    for (; from < look; from++) {
        add_parts(groups, from);
    }
    return xnn_sme_groups_blocks(groups, begin_of(groups, look), groups->ends[look]);
}

// After failed checks: more checks, if parts were many; block by block, if most failed.
static void learn(groups_t *groups, uint32_t failed,
                  uint32_t numbers) __arm_streaming __arm_preserves("za") {
    if (numbers > failed * groups->part) {
        groups->deviations *= 1.5f;
        xnn_sme_groups_plan(groups, true);
    } else if (failed > groups->looks / 2) {
        groups->looks = 0;
    }
}

static bool add_and_look(groups_t *groups) __arm_streaming __arm_inout("za") {
    const float *bounds = groups->bounds;
    uint32_t from = 0, failed = 0, numbers = 0;
    bool within = begins_within(groups);
    xnn_sme_groups_begin(groups);
    for (uint32_t i = 0; i < groups->looks; i++) {
        bounds += groups->most;
        if (within) {
            add_parts(groups, i);
            within = is_within(groups, bounds);
        }
        if (!within) {
            if (!add_again(groups, from, i)) {
                return false;
            }
            within = is_within(groups, bounds);
            from = i + 1;
            failed++;
            numbers += groups->ends[i] - begin_of(groups, i);
        }
    }
    learn(groups, failed, numbers);
    return true;
}

bool xnn_sme_groups_add(groups_t *groups) __arm_streaming __arm_inout("za") {
    if (groups->looks > 0) {
        return add_and_look(groups);
    }
    xnn_sme_groups_begin(groups);
    return xnn_sme_groups_blocks(groups, 0, groups->gemm->k);
}
