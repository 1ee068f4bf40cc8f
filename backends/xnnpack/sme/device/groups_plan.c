// SPDX-License-Identifier: Apache-2.0
// Plans how sums of a block of columns are added, see groups_add.c: after which parts
// of k they are checked, and which columns are likely to fail.
#include "groups.h"
#include "pairs.h"

// Sums are checked at least every this many products.
enum { MOST_NUMBERS = 8192 };

// Columns are summed apart if at most one of this many is.
enum { FEW_COLUMNS = 4 };

// The deviations of a sum that one part is tried with: a column that is summed apart
// costs as much as adding a few parts again.
#define SINGLE_DEVIATIONS 0.75f

// The maximum of a spread.
static svfloat32x2_t
sure_of(const groups_t *groups) __arm_streaming __arm_preserves("za") {
    return sme_pair_times(sme_group_extra(groups, XNN_SME_GROUP_LIMIT),
                          XNN_SME_GROUP_SURE);
}

// The maximum of a sum and its spread for the check to pass, if sums of products are
// this many deviations. Half the norms of k elements, which is about the `spreads` of
// all parts, is as many of those as half the root of k.
static svfloat32x2_t room_of(const groups_t *groups, svfloat32x2_t spreads,
                             float deviations) __arm_streaming __arm_preserves("za") {
    const float share = -2 * deviations / __builtin_sqrtf((float)groups->gemm->k);
    const svfloat32x2_t limit = sme_group_extra(groups, XNN_SME_GROUP_LIMIT);
    return sme_pair_add(sme_pair_times(limit, 2 * XNN_SME_GROUP_SURE),
                        sme_pair_times(spreads, share));
}

// Columns that will fail, because their sums go from one value to another.
static svbool_t will_fail(svfloat32_t from, svfloat32_t to, svfloat32_t spread,
                          svfloat32_t room,
                          svfloat32_t sure) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t ends =
        svmax_f32_x(all, svabs_f32_x(all, from), svabs_f32_x(all, to));
    const svbool_t within = svcmple_f32(all, svadd_f32_x(all, ends, spread), room);
    return svnot_b_z(all, svcmple_f32(within, spread, sure));
}

// Sums without elements, and with a mean zero point, after a part.
static svfloat32x2_t behind(const groups_t *groups, svfloat32x2_t sums,
                            uint32_t part) __arm_streaming __arm_preserves("za") {
    const float zero = groups->norms[groups->parts + 1];
    return sme_pair_add(
        sums, sme_pair_times(sme_group_number(groups, part, XNN_SME_GROUP_LIFT), zero));
}

static svfloat32x2_t
first_sums(const groups_t *groups) __arm_streaming __arm_preserves("za") {
    return sme_pair_times(sme_group_extra(groups, XNN_SME_GROUP_START),
                          groups->norms[groups->parts + 1]);
}

// Columns that will fail even if sums are checked after each part.
static void set_marks(const groups_t *groups,
                      svfloat32x2_t spreads) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32x2_t room = room_of(groups, spreads, SINGLE_DEVIATIONS);
    const svfloat32x2_t sure = sure_of(groups);
    const float *spread = groups->bounds;
    svfloat32x2_t from = first_sums(groups);
    svbool_t p0 = svpfalse_b(), p1 = p0;
    for (uint32_t part = 0; part < groups->parts; part++) {
        const svfloat32x2_t to = behind(groups, from, part);
        spread += groups->most;
        const svfloat32x2_t own = sme_pair_load(spread);
        p0 = svorr_b_z(all, p0,
                       will_fail(svget2_f32(from, 0), svget2_f32(to, 0),
                                 svget2_f32(own, 0), svget2_f32(room, 0),
                                 svget2_f32(sure, 0)));
        p1 = svorr_b_z(all, p1,
                       will_fail(svget2_f32(from, 1), svget2_f32(to, 1),
                                 svget2_f32(own, 1), svget2_f32(room, 1),
                                 svget2_f32(sure, 1)));
        from = to;
    }
    sme_pair_store(groups->marks,
                   svcreate2_f32(svdup_n_f32_z(p0, 1.0f), svdup_n_f32_z(p1, 1.0f)));
}

// Columns that are summed apart always pass.
static svfloat32x2_t
unless_marked(const groups_t *groups,
              svfloat32x2_t a) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32x2_t marks = sme_pair_load(groups->marks);
    const svbool_t p0 = svcmpne_n_f32(all, svget2_f32(marks, 0), 0.0f);
    const svbool_t p1 = svcmpne_n_f32(all, svget2_f32(marks, 1), 0.0f);
    const svfloat32_t any = svdup_f32(__builtin_inff());
    return svcreate2_f32(svsel_f32(p0, any, svget2_f32(a, 0)),
                         svsel_f32(p1, any, svget2_f32(a, 1)));
}

// Checks after as many parts as will pass, at least one; returns their spreads.
static void set_looks(groups_t *groups,
                      svfloat32x2_t spreads) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const uint32_t most = MOST_NUMBERS / groups->part;
    const svfloat32x2_t room =
        unless_marked(groups, room_of(groups, spreads, groups->deviations));
    const svfloat32x2_t sure = unless_marked(groups, sure_of(groups));
    const float zero = groups->norms[groups->parts + 1];
    const float *next = groups->bounds + groups->most;
    svfloat32x2_t from = first_sums(groups);
    groups->looks = 0;
    for (uint32_t part = 0, end; part < groups->parts; part = end) {
        svfloat32x2_t spread = sme_pair_load(next);
        svfloat32x2_t lift = sme_group_number(groups, part, XNN_SME_GROUP_LIFT);
        next += groups->most;
        for (end = part + 1; end < groups->parts && end - part < most; end++) {
            const svfloat32x2_t wider = sme_pair_add(spread, sme_pair_load(next));
            const svfloat32x2_t more =
                sme_pair_add(lift, sme_group_number(groups, end, XNN_SME_GROUP_LIFT));
            const svfloat32x2_t after = sme_pair_add(from, sme_pair_times(more, zero));
            const svbool_t p0 = will_fail(svget2_f32(from, 0), svget2_f32(after, 0),
                                          svget2_f32(wider, 0), svget2_f32(room, 0),
                                          svget2_f32(sure, 0));
            const svbool_t p1 = will_fail(svget2_f32(from, 1), svget2_f32(after, 1),
                                          svget2_f32(wider, 1), svget2_f32(room, 1),
                                          svget2_f32(sure, 1));
            if (svptest_any(all, svorr_b_z(all, p0, p1))) {
                break;
            }
            next += groups->most;
            spread = wider;
            lift = more;
        }
        sme_pair_store(groups->lifts + (size_t)groups->looks * groups->most, lift);
        groups->ends[groups->looks++] = sme_group_k(groups, end);
        sme_pair_store(groups->bounds + (size_t)groups->looks * groups->most, spread);
        from = sme_pair_add(from, sme_pair_times(lift, zero));
    }
}

static uint32_t
count_marks(const groups_t *groups) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32x2_t marks = sme_pair_load(groups->marks);
    return (uint32_t)(svcntp_b32(all, svcmpne_n_f32(all, svget2_f32(marks, 0), 0.0f)) +
                      svcntp_b32(all, svcmpne_n_f32(all, svget2_f32(marks, 1), 0.0f)));
}

static void list_marked(groups_t *groups) __arm_streaming __arm_preserves("za") {
    for (uint32_t i = 0; i < groups->columns; i++) {
        if (groups->marks[i] > 0.0f) {
            groups->list[groups->listed++] = groups->column + i;
        }
    }
}

// Whether columns can be collected with those of other blocks.
static bool may_list(const groups_t *groups,
                     uint32_t count) __arm_streaming __arm_preserves("za") {
    const bool whole = groups->columns == groups->most;
    return whole && groups->extra[(size_t)XNN_SME_GROUP_SCALE * groups->most] < 1.0f &&
           count <= groups->most / FEW_COLUMNS &&
           groups->listed + count <= XNN_SME_GROUP_APART * groups->most;
}

void xnn_sme_groups_plan(groups_t *groups,
                         bool again) __arm_streaming __arm_preserves("za") {
    const svfloat32x2_t spreads = xnn_sme_groups_spreads(groups);
    if (!again) {
        set_marks(groups, spreads);
    }
    set_looks(groups, spreads);
    xnn_sme_groups_bounds(groups);
    const uint32_t count = again ? 0 : count_marks(groups);
    if (count > 0 && may_list(groups, count)) {
        list_marked(groups);
    } else if (count > 0) {
        groups->looks = 0;
    }
}
