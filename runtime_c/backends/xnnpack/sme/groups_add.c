// SPDX-License-Identifier: Apache-2.0
// Sums of blocks of weights with a scale each. XNNPACK begins a sum with the zero point
// times xnn_group_start(), and adds the products of elements that count from -128 on,
// block after block, each times its scale in one rounding.
//
// Outer products of float16, which are elements that count from 0 on and weights times
// scales, add two products in one step. Behind a few parts of k follows their lift,
// 128 times the weights, and sums are XNNPACK's again: all are multiples of the last
// bit of a column's smallest scale, and as long as none is beyond the limit, 2^24 of
// that, nothing is rounded either way.
//
// Is none? Sums are looked at where a few parts end. Of two such sums, those between
// them are not far from the middle: products add x first and y then, so that a sum is
// (x - y) / 2 from it, at most half of what the norms of row and column are,
// multiplied; and lifts likewise. If both ends are within the limit less that spread,
// nothing was rounded. Else parts are added again, block by block.
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

// Adds parts to the tiles.
static void add_parts(const groups_t *groups, uint32_t part,
                      uint32_t end) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    xnn_sme_groups_multiply(groups, sme_group_k(groups, part),
                            sme_group_k(groups, end));
    svfloat32x2_t lift = sme_group_number(groups, part, XNN_SME_GROUP_LIFT);
    while (++part < end) {
        const svfloat32x2_t more = sme_group_number(groups, part, XNN_SME_GROUP_LIFT);
        lift =
            svcreate2_f32(svadd_f32_x(all, svget2_f32(lift, 0), svget2_f32(more, 0)),
                          svadd_f32_x(all, svget2_f32(lift, 1), svget2_f32(more, 1)));
    }
    xnn_sme_groups_lift(groups, lift);
}

// --- looks ---------------------------------------------------------------------------

// Are all sums within the bounds at the beginning?
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

// Columns of half the tiles, all of which are within the bounds; sums go to memory.
static inline __attribute__((always_inline)) svbool_t
look_at(const groups_t *groups, bool lower, const float *bounds,
        bool keep) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const uint32_t half = groups->most / 2;
    float *next = groups->next + (lower ? (size_t)half * 2 * half : 0);
    const svfloat32_t b0 = svld1_f32(all, bounds);
    const svfloat32_t b1 = svld1_vnum_f32(all, bounds, 1);
    svbool_t p0 = all, p1 = all;
    for (uint32_t i = 0; i < half; i += 4, next += 8 * half) {
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; j++) {
            const svfloat32_t x0 = svreinterpret_f32_s32(sme_row(lower, false, i + j));
            const svfloat32_t x1 = svreinterpret_f32_s32(sme_row(lower, true, i + j));
            p0 = svacge_f32(p0, b0, x0);
            p1 = svacge_f32(p1, b1, x1);
            if (keep) {
                svst1_vnum_f32(all, next, 2 * j, x0);
                svst1_vnum_f32(all, next, 2 * j + 1, x1);
            }
        }
    }
    return svand_b_z(all, p0, p1);
}

static inline __attribute__((always_inline)) bool
look(const groups_t *groups, const float *bounds,
     bool keep) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    svbool_t within = look_at(groups, false, bounds, keep);
    if (groups->rows > groups->most / 2) {
        within = svand_b_z(all, within, look_at(groups, true, bounds, keep));
    }
    return !svptest_any(all, svnot_b_z(all, within));
}

// Are sums of tiles within the bounds? Then they go to memory, if `keep`.
static bool is_within(groups_t *groups, const float *bounds,
                      bool keep) __arm_streaming __arm_inout("za") {
    if (!keep) {
        return look(groups, bounds, false);
    }
    if (!look(groups, bounds, true)) {
        return false;
    }
    float *sums = groups->sums;
    groups->sums = groups->next;
    groups->next = sums;
    return true;
}

typedef enum result {
    ADDED,
    FAILED,  // with steps of several parts
    INEXACT, // sums of a block are
} result_t;

// Before single parts, which are likely to fail, sums are kept.
static result_t add_steps(groups_t *groups) __arm_streaming __arm_inout("za") {
    const uint32_t step = groups->step;
    const float *bounds = groups->bounds;
    uint32_t failed = 0;
    bool within = begins_within(groups);
    xnn_sme_groups_begin(groups);
    for (uint32_t part = 0, end; part < groups->parts; part = end) {
        end = sme_group_end(groups, part, step);
        bounds += groups->most;
        if (within) {
            add_parts(groups, part, end);
            within = is_within(groups, bounds, step == 1 && end < groups->parts);
        }
        if (!within && step > 1) {
            return FAILED;
        }
        if (!within) {
            if (!xnn_sme_groups_blocks(groups, part, end)) {
                return INEXACT;
            }
            within = look(groups, bounds, false);
            failed++;
        }
    }
    groups->step = failed > groups->parts / 2 ? 0 : step;
    return ADDED;
}

bool xnn_sme_groups_add(groups_t *groups) __arm_streaming __arm_inout("za") {
    while (groups->step > 0) {
        const result_t result = add_steps(groups);
        if (result != FAILED) {
            return result == ADDED;
        }
        groups->step = (groups->step + 1) / 2;
        xnn_sme_groups_bound(groups);
    }
    return xnn_sme_groups_blocks(groups, 0, groups->parts);
}
