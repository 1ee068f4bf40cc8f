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
// Of a part for which it cannot be told, blocks are summed from zero and added as
// XNNPACK does. Sums of 32 products are exact always; of larger blocks where the limit
// says so; else rows are multiplied one by one.
#include "groups.h"

static svfloat32x2_t number(const groups_t *groups, uint32_t part,
                            uint32_t which) __arm_streaming __arm_preserves("za") {
    return sme_group_extra(groups,
                           XNN_SME_GROUP_PARTS + XNN_SME_GROUP_NUMBERS * part + which);
}

static const float *
norms_of(const groups_t *groups) __arm_streaming __arm_preserves("za") {
    return groups->norms + (size_t)(groups->row / groups->most) * (groups->parts + 1);
}

uint32_t xnn_sme_groups_end(const groups_t *groups, uint32_t part, svfloat32x2_t bound,
                            float times) __arm_streaming __arm_preserves("za") {
    const svbool_t all = svptrue_b32();
    const float *norms = norms_of(groups);
    const float zero = times * norms[groups->parts];
    const svfloat32x2_t limit = sme_group_extra(groups, XNN_SME_GROUP_LIMIT);
    svfloat32_t t0 = svget2_f32(bound, 0);
    svfloat32_t t1 = svget2_f32(bound, 1);
    for (; part < groups->parts; part++) {
        const svfloat32x2_t norm = number(groups, part, XNN_SME_GROUP_NORM);
        const svfloat32x2_t reach = number(groups, part, XNN_SME_GROUP_REACH);
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

static inline __attribute__((always_inline)) svfloat32_t
square(svfloat32_t sum, bool lower, bool right,
       uint32_t i) __arm_streaming __arm_inout("za") {
    const svfloat32_t x = svreinterpret_f32_s32(sme_row(lower, right, i));
    return svmla_f32_x(svptrue_b32(), sum, x, x);
}

// No less than the magnitudes of columns, left or right: norms of every eighth row.
static inline __attribute__((always_inline)) svfloat32_t
magnitude(const groups_t *groups, bool right) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b32();
    const uint32_t rows = groups->most / 2;
    svfloat32_t u0 = svdup_f32(0.0f), u1 = u0, u2 = u0, u3 = u0;
    svfloat32_t l0 = u0, l1 = u0, l2 = u0, l3 = u0;
    for (uint32_t i = 0; i < rows; i += 4) {
        u0 = square(u0, false, right, i);
        u1 = square(u1, false, right, i + 1);
        u2 = square(u2, false, right, i + 2);
        u3 = square(u3, false, right, i + 3);
        l0 = square(l0, true, right, i);
        l1 = square(l1, true, right, i + 1);
        l2 = square(l2, true, right, i + 2);
        l3 = square(l3, true, right, i + 3);
    }
    u0 = svmax_f32_x(all, svmax_f32_x(all, u0, u1), svmax_f32_x(all, u2, u3));
    l0 = svmax_f32_x(all, svmax_f32_x(all, l0, l1), svmax_f32_x(all, l2, l3));
    return svmul_n_f32_x(all, svsqrt_f32_x(all, svmax_f32_x(all, u0, l0)), 1.001f);
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

bool xnn_sme_groups_add(const groups_t *groups) __arm_streaming __arm_inout("za") {
    svfloat32x2_t bound = sme_group_none();
    uint32_t part = 0;
    svzero_za();
    for (;;) {
        uint32_t end = xnn_sme_groups_end(groups, part, bound, 1.0f);
        if (end > part) {
            xnn_sme_groups_multiply(groups, sme_group_k(groups, part),
                                    sme_group_k(groups, end));
        } else {
            end = xnn_sme_groups_blocks(groups, part);
        }
        if (end == groups->parts || end == 0) {
            return end > 0;
        }
        part = end;
        bound = svcreate2_f32(magnitude(groups, false), magnitude(groups, true));
    }
}
