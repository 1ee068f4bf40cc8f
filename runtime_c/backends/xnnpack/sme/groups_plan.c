// SPDX-License-Identifier: Apache-2.0
// How sums of a block of columns are added, see groups_add.c: how many parts of k can
// go between two looks, and which columns are likely not to pass them.
#include "groups.h"

// Sums are looked at after so many numbers at the latest.
enum { MOST_STEP = 8192 };

// A block is left to others for one in so many of its columns.
enum { FEW_COLUMNS = 4 };

static svfloat32_t spread_of(svfloat32_t sum, svfloat32_t pair, float norm,
                             float zero) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat16_t halves = svreinterpret_f16_f32(pair);
    sum = svmla_n_f32_x(all, sum, svcvt_f32_f16_x(all, halves), norm);
    return svmla_n_f32_x(all, sum, svcvtlt_f32_f16_x(all, halves), zero);
}

svfloat32x2_t
xnn_sme_groups_spread(const groups_t *groups, uint32_t part,
                      uint32_t end) __arm_streaming __arm_preserves("za") {
    const float *norms = groups->norms;
    svfloat32_t s0 = svdup_f32(0.0f), s1 = s0;
    for (; part < end; part++) {
        const svfloat32x2_t own = sme_group_number(groups, part, XNN_SME_GROUP_SPREAD);
        s0 = spread_of(s0, svget2_f32(own, 0), norms[part], norms[groups->parts]);
        s1 = spread_of(s1, svget2_f32(own, 1), norms[part], norms[groups->parts]);
    }
    return svcreate2_f32(s0, s1);
}

// --- bounds --------------------------------------------------------------------------

// Not a number: nowhere; infinite: columns are summed apart, too.
static svfloat32_t bound_of(svfloat32_t before, svfloat32_t after, svfloat32_t limit,
                            svfloat32_t mark) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t spread = svmax_f32_x(all, before, after);
    const svfloat32_t rest = svsubr_n_f32_x(all, spread, 2 * XNN_SME_GROUP_SURE);
    const svfloat32_t bound =
        svsel_f32(svcmple_n_f32(all, spread, XNN_SME_GROUP_SURE),
                  svmul_f32_x(all, rest, limit), svdup_f32(__builtin_nanf("")));
    return svsel_f32(svcmpne_n_f32(all, mark, 0.0f), svdup_f32(__builtin_inff()),
                     bound);
}

static void put_bounds(const groups_t *groups, svfloat32x2_t before,
                       svfloat32x2_t after,
                       float *to) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32x2_t limit = sme_group_extra(groups, XNN_SME_GROUP_LIMIT);
    const svfloat32_t m0 = svld1_f32(all, groups->marks);
    const svfloat32_t m1 = svld1_vnum_f32(all, groups->marks, 1);
    svst1_f32(all, to,
              bound_of(svget2_f32(before, 0), svget2_f32(after, 0),
                       svget2_f32(limit, 0), m0));
    svst1_vnum_f32(all, to, 1,
                   bound_of(svget2_f32(before, 1), svget2_f32(after, 1),
                            svget2_f32(limit, 1), m1));
}

static svfloat32x2_t spread_at(const groups_t *groups,
                               uint32_t part) __arm_streaming __arm_preserves("za") {
    return xnn_sme_groups_spread(groups, part,
                                 sme_group_end(groups, part, groups->step));
}

void xnn_sme_groups_bound(const groups_t *groups) __arm_streaming __arm_preserves(
    "za") {
    float *to = groups->bounds;
    svfloat32x2_t spread = spread_at(groups, 0);
    put_bounds(groups, spread, spread, to);
    for (uint32_t part = 0; part < groups->parts;) {
        part = sme_group_end(groups, part, groups->step);
        const svfloat32x2_t next = spread_at(groups, part);
        to += groups->most;
        put_bounds(groups, spread, next, to);
        spread = next;
    }
}

// --- plans ---------------------------------------------------------------------------

static svfloat32_t largest(svfloat32_t most, svfloat32_t sum, svfloat32_t spread,
                           svfloat32_t limit) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t own = svmla_f32_x(all, svabs_f32_x(all, sum), spread, limit);
    return svmax_f32_x(all, most, own);
}

// How far sums go that have no elements and the largest zero point, and spread with
// each `step` parts.
static svfloat32x2_t reach_of(const groups_t *groups,
                              uint32_t step) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const float zero = groups->norms[groups->parts + 1];
    const svfloat32x2_t start = sme_group_extra(groups, XNN_SME_GROUP_START);
    const svfloat32x2_t limit = sme_group_extra(groups, XNN_SME_GROUP_LIMIT);
    svfloat32_t s0 = svmul_n_f32_x(all, svget2_f32(start, 0), zero);
    svfloat32_t s1 = svmul_n_f32_x(all, svget2_f32(start, 1), zero);
    svfloat32_t m0 = svdup_f32(0.0f), m1 = m0;
    for (uint32_t part = 0, end; part < groups->parts;) {
        end = sme_group_end(groups, part, step);
        const svfloat32x2_t spread = xnn_sme_groups_spread(groups, part, end);
        m0 = largest(m0, s0, svget2_f32(spread, 0), svget2_f32(limit, 0));
        m1 = largest(m1, s1, svget2_f32(spread, 1), svget2_f32(limit, 1));
        for (; part < end; part++) {
            const svfloat32x2_t lift =
                sme_group_number(groups, part, XNN_SME_GROUP_LIFT);
            s0 = svmla_n_f32_x(all, s0, svget2_f32(lift, 0), zero);
            s1 = svmla_n_f32_x(all, s1, svget2_f32(lift, 1), zero);
        }
        m0 = largest(m0, s0, svget2_f32(spread, 0), svget2_f32(limit, 0));
        m1 = largest(m1, s1, svget2_f32(spread, 1), svget2_f32(limit, 1));
    }
    return svcreate2_f32(m0, m1);
}

static svbool_t will_fail(svfloat32_t reach, svfloat32_t whole, svfloat32_t limit,
                          float share) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t most = svmul_n_f32_x(all, limit, 2 * XNN_SME_GROUP_SURE);
    const svfloat32_t sum =
        svmla_f32_x(all, reach, svmul_n_f32_x(all, whole, share), limit);
    return svnot_b_z(all, svcmple_f32(all, sum, most));
}

// Marks columns whose sums are not likely to be within the limit; how many they are.
// `whole` is about half the norms of k numbers: a deviation of a sum is twice that by
// the root of k. Of steps of several parts all columns shall be within, so these count
// three; a column that stands apart costs as much as a few parts added again.
static uint32_t mark(const groups_t *groups, svfloat32x2_t whole,
                     uint32_t step) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const float deviations = step > 1 ? 3.0f : 0.75f;
    const float share = 2 * deviations / __builtin_sqrtf((float)groups->gemm->k);
    const svfloat32x2_t reach = reach_of(groups, step);
    const svfloat32x2_t limit = sme_group_extra(groups, XNN_SME_GROUP_LIMIT);
    const svbool_t p0 = will_fail(svget2_f32(reach, 0), svget2_f32(whole, 0),
                                  svget2_f32(limit, 0), share);
    const svbool_t p1 = will_fail(svget2_f32(reach, 1), svget2_f32(whole, 1),
                                  svget2_f32(limit, 1), share);
    svst1_f32(all, groups->marks, svdup_n_f32_z(p0, 1.0f));
    svst1_vnum_f32(all, groups->marks, 1, svdup_n_f32_z(p1, 1.0f));
    return (uint32_t)(svcntp_b32(all, p0) + svcntp_b32(all, p1));
}

static void list_marked(groups_t *groups) __arm_streaming __arm_preserves("za") {
    for (uint32_t i = 0; i < groups->columns; i++) {
        if (groups->marks[i] > 0.0f) {
            groups->list[groups->listed++] = groups->column + i;
        }
    }
}

// Can columns stand beside those of other blocks?
static bool may_list(const groups_t *groups,
                     uint32_t count) __arm_streaming __arm_preserves("za") {
    const bool whole = groups->columns == groups->most;
    return whole && groups->extra[(size_t)XNN_SME_GROUP_SCALE * groups->most] < 1.0f &&
           count <= groups->most / FEW_COLUMNS &&
           groups->listed + count <= XNN_SME_GROUP_APART * groups->most;
}

void xnn_sme_groups_plan(groups_t *groups) __arm_streaming __arm_preserves("za") {
    const uint32_t most = MOST_STEP / groups->part;
    const svfloat32x2_t whole = xnn_sme_groups_spread(groups, 0, groups->parts);
    const uint32_t steps = groups->parts < most ? groups->parts : most;
    const uint32_t next = 2 * groups->step + 1; // others are like the last ones
    groups->step = next < steps ? next : steps;
    uint32_t count;
    while ((count = mark(groups, whole, groups->step)) > 0 && groups->step > 1) {
        groups->step -= groups->step > 4 ? groups->step / 2 : 1;
    }
    if (count > 0 && may_list(groups, count)) {
        list_marked(groups);
    } else if (count > 0) {
        groups->step = 0;
        return;
    }
    xnn_sme_groups_bound(groups);
}
