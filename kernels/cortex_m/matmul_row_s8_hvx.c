// SPDX-License-Identifier: Apache-2.0
// One row by the rows of a matrix, as they lie, with Hexagon's vectors. Contract:
// matmul_s8_hvx.h.
//
// The offset of a is a second factor of b's elements: (a + offset) * b.
#include <stddef.h>

#include "kernels/cortex_m/matmul_s8_hvx.h"

enum { LANES = EMBER_LANES_HVX, FOUR = 4 };

// What a row of b is multiplied by.
typedef struct row {
    const HVX_Vector *a; // filled up with zeros
    HVX_Vector offset;
    HVX_Vector last_offset; // 0 behind the end
    int32_t inner;
} row_t;

INLINE HVX_Vector dot(const row_t *row, const int8_t *b) {
    const HVX_Vector *a = row->a;
    HVX_Vector sum = Q6_V_vzero();
    int32_t left = row->inner;

    for (; left >= EMBER_HVX; left -= EMBER_HVX) {
        const HVX_Vector x = ember_hvx_load_any(b);
        sum = Q6_Vw_vrmpyacc_VwVbVb(sum, x, ember_hvx_load(a));
        sum = Q6_Vw_vrmpyacc_VwVbVb(sum, x, row->offset);
        a++;
        b += EMBER_HVX;
    }
    if (left > 0) {
        const HVX_Vector x = ember_hvx_load_part(b, left);
        sum = Q6_Vw_vrmpyacc_VwVbVb(sum, x, ember_hvx_load(a));
        sum = Q6_Vw_vrmpyacc_VwVbVb(sum, x, row->last_offset);
    }
    return sum;
}

// Four rows of b at once: what a has is read once.
INLINE HVX_Vector dot_four(const row_t *row, const int8_t *b) {
    const HVX_Vector *a = row->a;
    const int32_t whole = row->inner & -EMBER_HVX;
    HVX_Vector sums[FOUR];

    EMBER_HVX_UNROLL
    for (int n = 0; n < FOUR; n++) {
        sums[n] = Q6_V_vzero();
    }
    for (int32_t at = 0; at < whole; at += EMBER_HVX) {
        const HVX_Vector by = ember_hvx_load(a++);
        EMBER_HVX_UNROLL
        for (int n = 0; n < FOUR; n++) {
            const HVX_Vector x = ember_hvx_load_any(b + at + n * row->inner);
            sums[n] = Q6_Vw_vrmpyacc_VwVbVb(sums[n], x, by);
            sums[n] = Q6_Vw_vrmpyacc_VwVbVb(sums[n], x, row->offset);
        }
    }
    if (row->inner > whole) {
        const HVX_Vector by = ember_hvx_load(a);
        EMBER_HVX_UNROLL
        for (int n = 0; n < FOUR; n++) {
            const int8_t *from = b + whole + n * row->inner;
            const HVX_Vector x = ember_hvx_load_part(from, row->inner - whole);
            sums[n] = Q6_Vw_vrmpyacc_VwVbVb(sums[n], x, by);
            sums[n] = Q6_Vw_vrmpyacc_VwVbVb(sums[n], x, row->last_offset);
        }
    }
    return ember_neighbours_hvx(ember_neighbours_hvx(sums[0], sums[1]),
                                ember_neighbours_hvx(sums[2], sums[3]));
}

static HVX_Vector dot_some(const row_t *row, const int8_t *b, int32_t count) {
    HVX_Vector sums[FOUR];

    for (int n = 0; n < FOUR; n++) {
        sums[n] = Q6_V_vzero();
        if (n < count) {
            sums[n] = dot(row, b);
            b += row->inner;
        }
    }
    return ember_neighbours_hvx(ember_neighbours_hvx(sums[0], sums[1]),
                                ember_neighbours_hvx(sums[2], sums[3]));
}

// Sums of `count` rows of b, up to 32.
static HVX_Vector sums_of(const row_t *row, const int8_t *b, int32_t count,
                          HVX_Vector *block) {
    const ptrdiff_t four = (ptrdiff_t)FOUR * row->inner;

    if (count >= LANES) {
        for (int32_t i = 0; i < LANES / FOUR; i++) {
            ember_hvx_store(block + i, dot_four(row, b));
            b += four;
        }
    } else {
        for (int32_t i = 0; i < LANES / FOUR; i++) {
            ember_hvx_store(block + i, dot_some(row, b, count - i * FOUR));
            b += count - i * FOUR > FOUR ? four : 0;
        }
    }
    return ember_reduced_hvx(block, LANES / FOUR);
}

// What the offset of b adds to every sum.
static int32_t base_of(const ember_matmul_s8_t *s, const int8_t *a) {
    const int32_t offset = s->b_offset;
    uint32_t sum = 0;

    for (int32_t k = 0; offset != 0 && k < s->inner; k++) {
        sum += (uint32_t)(a[k] + s->a_offset);
    }
    return (int32_t)(sum * (uint32_t)offset);
}

static row_t row_of(const ember_matmul_s8_t *s, const int8_t *a, HVX_Vector *to) {
    const int32_t rest = s->inner % EMBER_HVX;
    const int32_t whole = s->inner - rest;
    const HVX_VectorPred last = Q6_Q_vsetq_R(rest);
    row_t row = {.a = to, .offset = Q6_Vb_vsplat_R(s->a_offset), .inner = s->inner};

    for (int32_t at = 0; at < whole; at += EMBER_HVX) {
        ember_hvx_store(to++, ember_hvx_load_any(a + at));
    }
    if (rest > 0) {
        const HVX_Vector part = ember_hvx_load_part(a + whole, rest);
        ember_hvx_store(to, Q6_V_vand_QV(last, part));
    }
    row.last_offset = Q6_V_vand_QV(last, row.offset);
    return row;
}

void ember_row_s8_hvx(const ember_matmul_s8_t *s, const int8_t *a, const int8_t *b,
                      int8_t *c, int8_t *scratch) {
    HVX_Vector *block = (HVX_Vector *)(void *)scratch;
    const row_t row =
        row_of(s, a, (HVX_Vector *)(void *)(scratch + EMBER_ROW_HVX_BYTES));
    const ember_factors_hvx_t by = ember_factors_hvx(
        Q6_V_vsplat_R(s->by.multiplier), Q6_V_vsplat_R(s->by.shift));
    const HVX_Vector zero_point = Q6_V_vsplat_R(s->c_offset);
    const HVX_Vector base = Q6_V_vsplat_R(base_of(s, a));
    const HVX_Vector low = Q6_Vb_vsplat_R(s->limits.low);
    const HVX_Vector high = Q6_Vb_vsplat_R(s->limits.high);

    for (int32_t j = 0; j < s->columns; j += LANES) {
        const int32_t left = s->columns - j;
        const int32_t count = left < LANES ? left : LANES;
        HVX_Vector sum = Q6_Vw_vadd_VwVw(sums_of(&row, b, count, block), base);
        if (s->bias != NULL) {
            sum = Q6_Vw_vadd_VwVw(sum, ember_hvx_load_part(s->bias + j, count * 4));
        }
        const HVX_Vector scaled =
            Q6_Vw_vadd_VwVw(ember_scaled_hvx(sum, &by), zero_point);
        const HVX_Vector bytes = ember_bytes_hvx(scaled, scaled, scaled, scaled);
        ember_store_until_hvx(
            c + j, c + s->columns,
            Q6_Vb_vmin_VbVb(Q6_Vb_vmax_VbVb(bytes, low), high));
        b += (ptrdiff_t)count * s->inner;
    }
}
