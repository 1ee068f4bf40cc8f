// SPDX-License-Identifier: Apache-2.0
// One row by the rows of a matrix, as they lie, with Hexagon's vectors. Contract:
// matmul_s8_hvx.h.
//
// The offset of a is a second factor of b's elements, (a + offset) * b; with 128, the
// most frequent one, a is unsigned.
#include <stddef.h>

#include "kernels/engine/hvx/matmul_s8_hvx.h"

enum { LANES = EMBER_LANES_HVX, FOUR = 4, EIGHT = 8, TOP = 128 };
enum { ONES = 0x01010101 };

// What a row of b is multiplied by.
typedef struct row {
    const HVX_Vector *a; // filled up with zeros
    HVX_Vector offset;
    HVX_Vector last_offset; // 0 behind the end
    int32_t offset_bytes;   // four times
    int32_t start;          // takes off what 128 with every element of b adds, in each
                            // of 32 sums
    int32_t inner;
    int32_t repeats;  // of a in a vector
    int8_t *c;        // the row of results
    bool is_unsigned; // a has its offset
} row_t;

INLINE HVX_Vector add_products(HVX_Vector sum, HVX_Vector a, HVX_Vector b,
                               HVX_Vector offset, bool is_unsigned) {
    if (is_unsigned) {
        return Q6_Vw_vrmpyacc_VwVubVb(sum, a, b);
    }
    return Q6_Vw_vrmpyacc_VwVbVb(Q6_Vw_vrmpyacc_VwVbVb(sum, b, a), b, offset);
}

// Four rows of b at once: what a has is read once. Of rows from `count` on, the first
// is read again.
INLINE HVX_Vector dot_four(const row_t *row, const int8_t *b, int32_t count,
                           bool is_unsigned) {
    const HVX_Vector *a = row->a;
    const int32_t inner = row->inner;
    const int32_t whole = inner & -EMBER_HVX;
    const HVX_Vector offset = row->offset;
    const int8_t *from[FOUR];
    HVX_Vector sums[FOUR];

    EMBER_HVX_UNROLL
    for (int n = 0; n < FOUR; n++) {
        from[n] = b + (n < count ? n : 0) * inner;
        sums[n] = Q6_V_vzero();
    }
    for (int32_t left = whole; left > 0; left -= EMBER_HVX) {
        const HVX_Vector by = ember_hvx_load(a++);
        EMBER_HVX_UNROLL
        for (int n = 0; n < FOUR; n++) {
            const HVX_Vector x = ember_hvx_load_any(from[n]);
            sums[n] = add_products(sums[n], by, x, offset, is_unsigned);
            from[n] += EMBER_HVX;
        }
    }
    if (inner > whole) {
        const HVX_Vector by = ember_hvx_load(a);
        EMBER_HVX_UNROLL
        for (int n = 0; n < FOUR; n++) {
            const HVX_Vector x = ember_hvx_load_part(from[n], inner - whole);
            sums[n] = add_products(sums[n], by, x, row->last_offset, is_unsigned);
        }
    }
    return ember_neighbours_hvx(ember_neighbours_hvx(sums[0], sums[1]),
                                ember_neighbours_hvx(sums[2], sums[3]));
}

// 32 rows of b that are a vector each.
INLINE HVX_Vector sums_of_vectors(const row_t *row, const int8_t *b, bool is_unsigned) {
    const HVX_Vector a = ember_hvx_load(row->a);
    const HVX_Vector offset = row->offset;
    HVX_Vector fours[LANES / FOUR];

    EMBER_HVX_UNROLL
    for (int i = 0; i < LANES / FOUR; i++) {
        HVX_Vector sums[FOUR];
        EMBER_HVX_UNROLL
        for (int n = 0; n < FOUR; n++) {
            const HVX_Vector x = ember_hvx_load_any(b + (i * FOUR + n) * EMBER_HVX);
            sums[n] = add_products(Q6_V_vzero(), a, x, offset, is_unsigned);
        }
        fours[i] = ember_neighbours_hvx(ember_neighbours_hvx(sums[0], sums[1]),
                                        ember_neighbours_hvx(sums[2], sums[3]));
    }
    EMBER_HVX_UNROLL
    for (int i = 0; i < 2; i++) {
        fours[i] = ember_neighbours_hvx(
            ember_neighbours_hvx(fours[4 * i], fours[4 * i + 1]),
            ember_neighbours_hvx(fours[4 * i + 2], fours[4 * i + 3]));
    }
    return ember_neighbours_hvx(fours[0], fours[1]);
}

// `count` rows of b, up to 32, several of which are a vector: a is repeated in one.
INLINE HVX_Vector sums_of_short(const row_t *row, const int8_t *b, int32_t count,
                                HVX_Vector *block, bool is_unsigned) {
    const HVX_Vector a = ember_hvx_load(row->a);
    const int32_t vectors = row->inner * LANES / EMBER_HVX;
    int32_t left = count * row->inner;

    if (count == LANES) {
        for (int32_t i = 0; i < vectors; i++) {
            const HVX_Vector x = ember_hvx_load_any(b);
            ember_hvx_store(block + i,
                            add_products(Q6_V_vzero(), a, x, row->offset, is_unsigned));
            b += EMBER_HVX;
        }
        return ember_reduced_hvx(block, vectors);
    }
    for (int32_t i = 0; i < vectors && left > 0; i++) {
        const HVX_Vector x = ember_load_left_hvx(b, left);
        ember_hvx_store(block + i,
                        add_products(Q6_V_vzero(), a, x, row->offset, is_unsigned));
        b += EMBER_HVX;
        left -= EMBER_HVX;
    }
    return ember_reduced_hvx(block, vectors);
}

// Eight rows of b that are whole vectors: sums of sixteen of their products each. What
// the offset adds is summed apart, of b with 128 added: an instruction that multiplies
// unsigned bytes by a register of the core leaves room for another in its packet.
INLINE HVX_Vector dot_eight(const row_t *row, const int8_t *b, bool is_unsigned) {
    const int32_t inner = row->inner;
    const int32_t offset = row->offset_bytes;
    const HVX_Vector top = Q6_Vb_vsplat_R(INT8_MIN);
    const HVX_Vector start = Q6_V_vsplat_R(row->start);
    const HVX_Vector *a = row->a;
    HVX_Vector sums[EIGHT], offsets[EIGHT];

    EMBER_HVX_UNROLL
    for (int n = 0; n < EIGHT; n++) {
        sums[n] = Q6_V_vzero();
        offsets[n] = start;
    }
    for (int32_t left = inner; left > 0; left -= EMBER_HVX) {
        const HVX_Vector by = ember_hvx_load(a++);
        const int8_t *from = ember_hvx_somewhere(b);
        EMBER_HVX_UNROLL
        for (int n = 0; n < EIGHT; n++) {
            const HVX_Vector x = ember_hvx_load_any(from);
            if (is_unsigned) {
                sums[n] = Q6_Vw_vrmpyacc_VwVubVb(sums[n], by, x);
            } else {
                sums[n] = Q6_Vw_vrmpyacc_VwVbVb(sums[n], x, by);
                offsets[n] =
                    Q6_Vw_vrmpyacc_VwVubRb(offsets[n], Q6_V_vxor_VV(x, top), offset);
            }
            from += inner;
        }
        b += EMBER_HVX;
    }
    EMBER_HVX_UNROLL
    for (int n = 0; n < EIGHT; n++) {
        sums[n] = is_unsigned ? sums[n] : Q6_Vw_vadd_VwVw(sums[n], offsets[n]);
    }
    EMBER_HVX_UNROLL
    for (int n = 0; n < EIGHT; n += FOUR) {
        sums[n] = ember_neighbours_hvx(ember_neighbours_hvx(sums[n], sums[n + 1]),
                                       ember_neighbours_hvx(sums[n + 2], sums[n + 3]));
    }
    return ember_neighbours_hvx(sums[0], sums[FOUR]);
}

// `count` rows of b that are whole vectors, a multiple of eight up to 32; of what is
// left over, nothing is used.
INLINE HVX_Vector sums_of_whole(const row_t *row, const int8_t *b, int32_t count,
                                HVX_Vector *block, bool is_unsigned) {
    for (int32_t i = 0; i < count / EIGHT; i++) {
        ember_hvx_store(block + i, dot_eight(row, b, is_unsigned));
        b += (ptrdiff_t)EIGHT * row->inner;
    }
    return ember_reduced_hvx(block, LANES / EIGHT);
}

INLINE HVX_Vector sums_of_any(const row_t *row, const int8_t *b, int32_t count,
                              HVX_Vector *block, bool is_unsigned) {
    const ptrdiff_t four = (ptrdiff_t)FOUR * row->inner;

    if (row->repeats > 1) {
        return sums_of_short(row, b, count, block, is_unsigned);
    }
    if (count % EIGHT == 0 && row->inner % EMBER_HVX == 0) {
        return count == LANES ? sums_of_whole(row, b, LANES, block, is_unsigned)
                              : sums_of_whole(row, b, count, block, is_unsigned);
    }
    if (count == LANES) {
        for (int32_t i = 0; i < LANES; i += FOUR) {
            ember_hvx_store(block++, dot_four(row, b, FOUR, is_unsigned));
            b += four;
        }
    } else {
        for (int32_t i = 0; i < count; i += FOUR) {
            ember_hvx_store(block++, dot_four(row, b, count - i, is_unsigned));
            b += four;
        }
        block += (LANES - count) / FOUR;
    }
    return ember_reduced_hvx(block - LANES / FOUR, LANES / FOUR);
}

// Sums of `count` rows of b, up to 32. Apart, for the sake of registers.
static __attribute__((noinline)) HVX_Vector sums_of(const row_t *row, const int8_t *b,
                                                    int32_t count, HVX_Vector *block) {
    return row->is_unsigned ? sums_of_any(row, b, count, block, true)
                            : sums_of_any(row, b, count, block, false);
}

// The same of 32 rows that are a vector each.
static __attribute__((noinline)) HVX_Vector sums_of_lanes(const row_t *row,
                                                          const int8_t *b) {
    return row->is_unsigned ? sums_of_vectors(row, b, true)
                            : sums_of_vectors(row, b, false);
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
    const bool is_unsigned = s->a_offset == TOP;
    const HVX_Vector flip = Q6_Vb_vsplat_R(is_unsigned ? INT8_MIN : 0);
    row_t row = {.a = to,
                 .offset = Q6_Vb_vsplat_R(s->a_offset),
                 .offset_bytes = (int32_t)((uint32_t)(s->a_offset & 255) * ONES),
                 .start = -s->a_offset * s->inner * (TOP / LANES),
                 .inner = s->inner,
                 .repeats = 1,
                 .is_unsigned = is_unsigned};

    for (int32_t at = 0; at < whole; at += EMBER_HVX) {
        ember_hvx_store(to++, Q6_V_vxor_VV(ember_hvx_load_any(a + at), flip));
    }
    if (rest > 0) {
        const HVX_Vector part = ember_hvx_load_part(a + whole, rest);
        ember_hvx_store(to, Q6_V_vand_QV(last, Q6_V_vxor_VV(part, flip)));
    }
    row.last_offset = Q6_V_vand_QV(last, row.offset);
    if (whole == 0 && rest % 4 == 0 && (rest & (rest - 1)) == 0) {
        const HVX_Vector once = ember_hvx_load(row.a);
        row.repeats = EMBER_HVX >> __builtin_ctz((uint32_t)rest); // no call to divide
        for (int32_t i = 1; i < row.repeats; i++) {
            ember_hvx_store_any((int8_t *)to + i * rest, once);
        }
    }
    return row;
}

// What sums become.
typedef struct scales {
    ember_factors_hvx_t by;
    HVX_Vector base;
    HVX_Vector zero_point;
    HVX_Vector low;
    HVX_Vector high;
    const ember_ending_hvx_t *ending; // NULL: `by`
} scales_t;

// Without the zero point; with an ending, the sum.
INLINE HVX_Vector scaled(const scales_t *scales, HVX_Vector sum) {
    const HVX_Vector all = Q6_Vw_vadd_VwVw(sum, scales->base);
    return scales->ending == NULL ? ember_scaled_hvx(all, &scales->by) : all;
}

// Numbers without the zero point, or sums, become int8. Clobbers them.
INLINE HVX_Vector results_of(const scales_t *scales, HVX_Vector *words) {
    const HVX_Vector zero = scales->zero_point;

    if (scales->ending != NULL) {
        ember_ended_hvx(scales->ending, words, 4);
    } else {
        EMBER_HVX_UNROLL
        for (int v = 0; v < 4; v++) {
            words[v] = Q6_Vw_vadd_VwVw(words[v], zero);
        }
    }
    const HVX_Vector bytes = ember_bytes_hvx(words[0], words[1], words[2], words[3]);
    return Q6_Vb_vmin_VbVb(Q6_Vb_vmax_VbVb(bytes, scales->low), scales->high);
}

// Sums of 128 rows of b become as many results.
static void run_whole(const ember_matmul_s8_t *s, const row_t *row,
                      const scales_t *scales, int32_t column, const int8_t *b,
                      HVX_Vector *block) {
    static const int32_t none[4 * LANES] = {0};
    const int32_t *bias = s->bias == NULL ? none : s->bias + column;
    HVX_Vector words[4];

    const bool are_vectors = row->inner == EMBER_HVX;

    EMBER_HVX_UNROLL
    for (int v = 0; v < 4; v++) {
        const HVX_Vector sum =
            are_vectors ? sums_of_lanes(row, b) : sums_of(row, b, LANES, block);
        words[v] =
            scaled(scales, Q6_Vw_vadd_VwVw(sum, ember_hvx_load_any(bias + v * LANES)));
        b += (ptrdiff_t)LANES * s->inner;
    }
    ember_hvx_store_any(row->c + column, results_of(scales, words));
}

// The same of fewer rows.
static void run_rest(const ember_matmul_s8_t *s, const row_t *row,
                     const scales_t *scales, int32_t column, const int8_t *b,
                     HVX_Vector *block) {
    HVX_Vector words[4];

    for (int v = 0; v < 4; v++) {
        const int32_t at = column + v * LANES;
        const int32_t left = s->columns - at;
        const int32_t count = left < LANES ? left : LANES;
        words[v] = Q6_V_vzero();
        if (count > 0) {
            HVX_Vector sum = row->inner == EMBER_HVX && count == LANES
                                 ? sums_of_lanes(row, b)
                                 : sums_of(row, b, count, block);
            if (s->bias != NULL) {
                sum =
                    Q6_Vw_vadd_VwVw(sum, ember_hvx_load_part(s->bias + at, count * 4));
            }
            words[v] = scaled(scales, sum);
            b += (ptrdiff_t)count * s->inner;
        }
    }
    ember_hvx_store_part(row->c + column, results_of(scales, words),
                         s->columns - column);
}

void ember_row_s8_hvx(const ember_matmul_s8_t *s, const int8_t *a, const int8_t *b,
                      int8_t *c, int8_t *scratch, const ember_ending_hvx_t *ending) {
    HVX_Vector *block = (HVX_Vector *)(void *)scratch;
    row_t row = row_of(s, a, (HVX_Vector *)(void *)(scratch + EMBER_ROW_HVX_BYTES));
    const scales_t scales = {
        .by = ember_factors_hvx(Q6_V_vsplat_R(s->by.multiplier),
                                Q6_V_vsplat_R(s->by.shift)),
        .base = Q6_V_vsplat_R(base_of(s, a)),
        .zero_point = Q6_V_vsplat_R(s->c_offset),
        .low = Q6_Vb_vsplat_R(s->limits.low),
        .high = Q6_Vb_vsplat_R(s->limits.high),
        .ending = ending,
    };
    int32_t j = 0;

    row.c = c;
    for (; j + 4 * LANES <= s->columns; j += 4 * LANES) {
        run_whole(s, &row, &scales, j, b, block);
        b += (ptrdiff_t)4 * LANES * s->inner;
    }
    if (j < s->columns) {
        run_rest(s, &row, &scales, j, b, block);
    }
}
