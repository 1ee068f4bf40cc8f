// SPDX-License-Identifier: Apache-2.0
// Products of three columns with all filters. Contract: columns_mve.h.
#include <arm_mve_tiles.h>
#include <stddef.h>

#include "kernels/engine/mve/columns_mve.h"
#include "kernels/engine/mve/products_mve.h"

enum { TILE = EMBER_MVE_TILE };     // filters
enum { FOUR = 4 * EMBER_LANES_S8 }; // elements

// tile[n, f] = sums[f] and the products of filter f with column n, for `count` filters.
// The last of an odd number is not multiplied, nor is any with a first column that is
// the second, too.
static __attribute__((noinline)) void multiply(int32_t *tile, const int32_t *sums,
                                               const int8_t *w, int32_t count,
                                               const int8_t *const *columns,
                                               int32_t inner) {
    const ember_mve_tiles_t tiles = {
        .columns = {columns[0], columns[1], columns[2]},
        .inner = inner,
        .past = -inner & (EMBER_LANES_S8 - 1),
        .end = tile + (count & ~1),
        .tile = tile,
        .w = w,
    };

    do {
        const mve_pred16_t lanes = vctp32q((uint32_t)count);
        vstrwq_p_s32(tile, vldrwq_z_s32(sums, lanes), lanes);
        tile += EMBER_LANES_S32;
        sums += EMBER_LANES_S32;
        count -= EMBER_LANES_S32;
    } while (count > 0);
    if (columns[0] == columns[1]) {
        ember_mve_multiply_last_two(&tiles);
    } else {
        ember_mve_multiply_tiles(&tiles);
    }
}

// The same as multiply() for columns of at most two vectors.
static __attribute__((noinline)) void multiply_short(int32_t *tile, const int32_t *sums,
                                                     const int8_t *w, int32_t count,
                                                     const int8_t *const *columns,
                                                     int32_t inner) {
    const ember_mve_pairs_t pairs = {
        .columns = {columns[0], columns[1], columns[2]},
        .inner = inner,
        .sums = sums,
        .tile = tile,
        .w = w,
        .count = count >> 1,
    };

    if (inner > EMBER_LANES_S8) {
        ember_mve_multiply_two(&pairs);
    } else {
        ember_mve_multiply_one(&pairs);
    }
}

// The same as multiply() for columns of four vectors.
static __attribute__((noinline)) void multiply_four(int32_t *tile, const int32_t *sums,
                                                    const int8_t *w, int32_t count,
                                                    const int8_t *const *columns) {
    const int8_t *x0 = columns[0], *x1 = columns[1], *x2 = columns[2];

    for (; count > 1; count -= 2) {
        int32_t a0 = sums[0], a1 = a0, a2 = a0;
        int32_t b0 = sums[1], b1 = b0, b2 = b0;
        int8x16_t a = vldrbq_s8(w);
#pragma GCC unroll 4
        for (int32_t at = 0; at < FOUR; at += EMBER_LANES_S8) {
            const int8x16_t u = vldrbq_s8(x0 + at);
            a0 = vmladavaq_s8(a0, a, u);
            const int8x16_t b = vldrbq_s8(w + FOUR + at);
            b0 = vmladavaq_s8(b0, b, u);
            const int8x16_t v = vldrbq_s8(x1 + at);
            a1 = vmladavaq_s8(a1, a, v);
            const int8x16_t t = vldrbq_s8(x2 + at);
            b1 = vmladavaq_s8(b1, b, v);
            a2 = vmladavaq_s8(a2, a, t);
            a = at + EMBER_LANES_S8 < FOUR ? vldrbq_s8(w + at + EMBER_LANES_S8) : a;
            b2 = vmladavaq_s8(b2, b, t);
        }
        tile[TILE] = a1;
        tile[TILE + 1] = b1;
        tile[2 * TILE] = a2;
        tile[2 * TILE + 1] = b2;
        tile[0] = a0;
        tile[1] = b0;
        tile += 2;
        sums += 2;
        w += 2 * FOUR;
    }
}

// The outputs of `count` filters, the first of which is filter `from`, from their sums
// with the columns.
static __attribute__((noinline)) void scale(const ember_scales_s8_t *scales,
                                            const int32_t *tile, int32_t from,
                                            int32_t count, int8_t *const *y) {
    const int32x4_t least = vdupq_n_s32(scales->limits.low);
    const int32x4_t most = vdupq_n_s32(scales->limits.high);
    const int32_t zero_point = scales->zero_point;
    const int32_t *multipliers = scales->multipliers + from;
    const int32_t *shifts = scales->shifts + from;
    int8_t *y0 = y[0] + from, *y1 = y[1] + from, *y2 = y[2] + from;

    do {
        const mve_pred16_t lanes = vctp32q((uint32_t)count);
        const int32x4_t by = vldrwq_z_s32(multipliers, lanes);
        const int32x4_t shift = vldrwq_z_s32(shifts, lanes);
        const int32x4_t u = ember_scaled_mve(vldrwq_z_s32(tile, lanes), by, shift);
        vstrbq_p_s32(y0, ember_limited_mve(u, zero_point, least, most), lanes);
        const int32x4_t v =
            ember_scaled_mve(vldrwq_z_s32(tile + TILE, lanes), by, shift);
        vstrbq_p_s32(y1, ember_limited_mve(v, zero_point, least, most), lanes);
        const int32x4_t t =
            ember_scaled_mve(vldrwq_z_s32(tile + 2 * TILE, lanes), by, shift);
        vstrbq_p_s32(y2, ember_limited_mve(t, zero_point, least, most), lanes);
        multipliers += EMBER_LANES_S32;
        shifts += EMBER_LANES_S32;
        tile += EMBER_LANES_S32;
        y0 += EMBER_LANES_S32;
        y1 += EMBER_LANES_S32;
        y2 += EMBER_LANES_S32;
        count -= EMBER_LANES_S32;
    } while (count > 0);
}

// Sums of eight filters, or their scales: even ones, then odd ones.
typedef int32x4x2_t eight_t;

INLINE eight_t shifted(eight_t sums, eight_t by, eight_t shifts) {
    return (eight_t){{ember_shifted_mve(sums.val[0], by.val[0], shifts.val[0]),
                      ember_shifted_mve(sums.val[1], by.val[1], shifts.val[1])}};
}

INLINE void store(int8_t *y, eight_t scaled, int32_t zero_point) {
    ember_store_eight_mve(y, scaled.val[0], scaled.val[1], zero_point);
}

// The same for `eights` > 0 times eight filters with plain scales. Sums of the next
// column are loaded before those of this one are stored.
static __attribute__((noinline)) void scale_eights(const ember_scales_s8_t *scales,
                                                   const int32_t *tile, int32_t from,
                                                   int32_t eights, int8_t *const *y) {
    const int32_t *multipliers = scales->multipliers + from;
    const int32_t *shifts = scales->shifts + from;
    const int32_t zero_point = scales->zero_point;
    int8_t *y0 = y[0] + from, *y1 = y[1] + from, *y2 = y[2] + from;

    do {
        const eight_t by = vld2q_s32(multipliers);
        const eight_t shift = vld2q_s32(shifts);
        const eight_t u = shifted(vld2q_s32(tile), by, shift);
        const eight_t v = vld2q_s32(tile + TILE);
        store(y0, u, zero_point);
        const eight_t w = shifted(v, by, shift);
        const eight_t t = vld2q_s32(tile + 2 * TILE);
        store(y1, w, zero_point);
        store(y2, shifted(t, by, shift), zero_point);
        multipliers += EMBER_LANES_S16;
        shifts += EMBER_LANES_S16;
        tile += EMBER_LANES_S16;
        y0 += EMBER_LANES_S16;
        y1 += EMBER_LANES_S16;
        y2 += EMBER_LANES_S16;
        eights--;
    } while (eights != 0);
}

// The same for any count but 0.
INLINE void scale_all(const ember_columns_mve_t *s, const int32_t *tile, int32_t from,
                      int32_t count, int8_t *const *y) {
    const int32_t plain = s->plain ? count & -EMBER_LANES_S16 : 0;

    if (plain > 0) {
        scale_eights(&s->conv.scales, tile, from, plain >> 3, y);
    }
    if (plain < count) {
        scale(&s->conv.scales, tile + plain, from + plain, count - plain, y);
    }
}

// tile[n, 0] of one filter.
INLINE void multiply_single(int32_t *tile, int32_t sum, const int8_t *w,
                            const int8_t *const *columns, int32_t inner) {
    const int8_t *x0 = columns[0], *x1 = columns[1], *x2 = columns[2];
    int32_t s0 = sum, s1 = sum, s2 = sum;

    for (int32_t k = inner; k > 0; k -= EMBER_LANES_S8) {
        const mve_pred16_t lanes = vctp8q((uint32_t)k);
        const int8x16_t a = vldrbq_z_s8(w, lanes);
        s0 = vmladavaq_p_s8(s0, vldrbq_z_s8(x0, lanes), a, lanes);
        s1 = vmladavaq_p_s8(s1, vldrbq_z_s8(x1, lanes), a, lanes);
        s2 = vmladavaq_p_s8(s2, vldrbq_z_s8(x2, lanes), a, lanes);
        w += EMBER_LANES_S8;
        x0 += EMBER_LANES_S8;
        x1 += EMBER_LANES_S8;
        x2 += EMBER_LANES_S8;
    }
    tile[0] = s0;
    tile[TILE] = s1;
    tile[2 * TILE] = s2;
}

// Sums of `count` filters, the first of which is `w`.
INLINE void multiply_all(int32_t *tile, const int32_t *sums, const int8_t *w,
                         int32_t count, const int8_t *const *columns, int32_t inner) {
    const int32_t last = count - 1;

    if (inner == FOUR) {
        multiply_four(tile, sums, w, count, columns);
    } else if (last > 0 && inner > 2 * EMBER_LANES_S8) {
        multiply(tile, sums, w, count, columns, inner);
    } else if (last > 0) {
        multiply_short(tile, sums, w, count, columns, inner);
    }
    if ((count & 1) != 0) {
        multiply_single(tile + last, sums[last], w + last * inner, columns, inner);
    }
}

void ember_columns_mve_three(const ember_columns_mve_t *s, const int8_t *const *columns,
                             int8_t *const *y, const ember_ending_mve_t *ending) {
    const int32_t filters = s->conv.filters;
    const int32_t *sums = s->sums != NULL ? s->sums : s->conv.scales.bias;
    const int8_t *w = s->w;
    int32_t *tile = s->tile;

    for (int32_t from = 0; from < filters; from += TILE) {
        const int32_t left = filters - from;
        const int32_t count = left < TILE ? left : TILE;
        multiply_all(tile, sums + from, w, count, columns, s->inner);
        w += TILE * s->inner;
        if (ending == NULL) {
            scale_all(s, tile, from, count, y);
        } else {
            ending->three(s, tile, from, count, y);
        }
    }
}

// tile[f] = sums[f] and the products of filter f with the column, for `fours` > 0 times
// four filters.
static __attribute__((noinline)) void multiply_one(int32_t *tile, const int32_t *sums,
                                                   const int8_t *w, int32_t fours,
                                                   const int8_t *column,
                                                   int32_t inner) {
    do {
        const int8_t *a = w, *b = a + inner, *c = b + inner, *d = c + inner;
        const int8_t *x = column;
        int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
        for (int32_t k = inner; k > 0; k -= EMBER_LANES_S8) {
            const mve_pred16_t lanes = vctp8q((uint32_t)k);
            const int8x16_t u = vldrbq_z_s8(x, lanes);
            s0 = vmladavaq_p_s8(s0, vldrbq_z_s8(a, lanes), u, lanes);
            s1 = vmladavaq_p_s8(s1, vldrbq_z_s8(b, lanes), u, lanes);
            s2 = vmladavaq_p_s8(s2, vldrbq_z_s8(c, lanes), u, lanes);
            s3 = vmladavaq_p_s8(s3, vldrbq_z_s8(d, lanes), u, lanes);
            x += EMBER_LANES_S8;
            a += EMBER_LANES_S8;
            b += EMBER_LANES_S8;
            c += EMBER_LANES_S8;
            d += EMBER_LANES_S8;
        }
        tile[0] = s0;
        tile[1] = s1;
        tile[2] = s2;
        tile[3] = s3;
        tile += 4;
        sums += 4;
        w += 4 * inner;
    } while (--fours > 0);
}

// The outputs of `count` filters, fours, the first of which is filter `from`.
static __attribute__((noinline)) void scale_one(const ember_columns_mve_t *s,
                                                const int32_t *tile, int32_t from,
                                                int32_t count, int8_t *y) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    const int32x4_t least = vdupq_n_s32(scales->limits.low);
    const int32x4_t most = vdupq_n_s32(scales->limits.high);
    const mve_pred16_t lanes = vctp32q(EMBER_LANES_S32);

    for (int32_t at = 0; at < count; at += EMBER_LANES_S32) {
        const int32x4_t by = vldrwq_s32(scales->multipliers + from + at);
        const int32x4_t shift = vldrwq_s32(scales->shifts + from + at);
        const int32x4_t u = ember_scaled_mve(vldrwq_s32(tile + at), by, shift);
        vstrbq_p_s32(y + from + at,
                     ember_limited_mve(u, scales->zero_point, least, most), lanes);
    }
}

void ember_columns_mve_one(const ember_columns_mve_t *s, const int8_t *column,
                           int8_t *y, const ember_ending_mve_t *ending) {
    const int32_t filters = s->conv.filters;
    const int32_t *sums = s->sums != NULL ? s->sums : s->conv.scales.bias;
    const int8_t *w = s->w;

    for (int32_t from = 0; from < filters; from += TILE) {
        const int32_t left = filters - from;
        const int32_t count = left < TILE ? left : TILE;
        multiply_one(s->tile, sums + from, w, count / 4, column, s->inner);
        if (ending == NULL) {
            scale_one(s, s->tile, from, count, y);
        } else {
            ending->one(s, s->tile, from, count, y);
        }
        w += TILE * s->inner;
    }
}
