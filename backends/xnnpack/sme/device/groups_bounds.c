// SPDX-License-Identifier: Apache-2.0
// How far sums may be from the middle between two checks, and what they may be at
// checks: see groups_add.c.
#include "groups.h"
#include "pairs.h"

static svfloat32_t spread_of(svfloat32_t pair, float norm,
                             float zero) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat16_t halves = svreinterpret_f16_f32(pair);
    const svfloat32_t products = svmul_n_f32_x(all, svcvt_f32_f16_x(all, halves), norm);
    return svmla_n_f32_x(all, products, svcvtlt_f32_f16_x(all, halves), zero);
}

svfloat32x2_t
xnn_sme_groups_spread(const groups_t *groups,
                      uint32_t part) __arm_streaming __arm_preserves("za") {
    const float norm = groups->norms[part];
    const float zero = groups->norms[groups->parts];
    const svfloat32x2_t own = sme_group_number(groups, part, XNN_SME_GROUP_SPREAD);
    return svcreate2_f32(spread_of(svget2_f32(own, 0), norm, zero),
                         spread_of(svget2_f32(own, 1), norm, zero));
}

// The same, not relative to the limit.
static svfloat32x2_t spread_at(const groups_t *groups,
                               uint32_t part) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32x2_t limit = sme_group_extra(groups, XNN_SME_GROUP_LIMIT);
    const svfloat32x2_t own = xnn_sme_groups_spread(groups, part);
    return svcreate2_f32(svmul_f32_x(all, svget2_f32(own, 0), svget2_f32(limit, 0)),
                         svmul_f32_x(all, svget2_f32(own, 1), svget2_f32(limit, 1)));
}

svfloat32x2_t
xnn_sme_groups_spreads(const groups_t *groups) __arm_streaming __arm_preserves("za") {
    float *to = groups->bounds;
    svfloat32x2_t sum = svcreate2_f32(svdup_f32(0.0f), svdup_f32(0.0f));
    for (uint32_t part = 0; part < groups->parts; part++) {
        const svfloat32x2_t own = spread_at(groups, part);
        to += groups->most;
        sme_pair_store(to, own);
        sum = sme_pair_add(sum, own);
    }
    return sum;
}

// With NaN or infinity, columns are summed apart, too.
static svfloat32_t bound_of(svfloat32_t before, svfloat32_t after, svfloat32_t limit,
                            svfloat32_t mark) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const svfloat32_t spread = svmax_f32_x(all, before, after);
    const svfloat32_t sure = svmul_n_f32_x(all, limit, XNN_SME_GROUP_SURE);
    const svfloat32_t rest = svnmls_n_f32_x(all, spread, sure, 2.0f);
    const svfloat32_t bound =
        svsel_f32(svcmple_f32(all, spread, sure), rest, svdup_f32(__builtin_nanf("")));
    return svsel_f32(svcmpne_n_f32(all, mark, 0.0f), svdup_f32(__builtin_inff()),
                     bound);
}

void xnn_sme_groups_bounds(const groups_t *groups) __arm_streaming __arm_preserves(
    "za") {
    const svfloat32x2_t limit = sme_group_extra(groups, XNN_SME_GROUP_LIMIT);
    const svfloat32x2_t marks = sme_pair_load(groups->marks);
    float *to = groups->bounds;
    svfloat32x2_t before = sme_pair_load(to + groups->most);
    for (uint32_t i = 0; i <= groups->looks; i++, to += groups->most) {
        const svfloat32x2_t after =
            i < groups->looks ? sme_pair_load(to + groups->most) : before;
        sme_pair_store(
            to, svcreate2_f32(bound_of(svget2_f32(before, 0), svget2_f32(after, 0),
                                       svget2_f32(limit, 0), svget2_f32(marks, 0)),
                              bound_of(svget2_f32(before, 1), svget2_f32(after, 1),
                                       svget2_f32(limit, 1), svget2_f32(marks, 1))));
        before = after;
    }
}
