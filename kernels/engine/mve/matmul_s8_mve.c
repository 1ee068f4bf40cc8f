// SPDX-License-Identifier: Apache-2.0
// Products of int8 matrices with Helium. Contract: matmul_s8_mve.h.
#include "kernels/engine/mve/matmul_s8_mve.h"

#include <arm_mve_tiles.h>
#include <stddef.h>

#include "kernels/engine/mve/products_mve.h"

enum { TILE = 128, CHUNK = 128 };
enum { MOST = 1 << 20 }; // elements of a row, columns

// tile[j] = first[j] + a . row j of b, for `count` rows, a multiple of four and not 0.
static __attribute__((noinline)) void multiply_chunks(int32_t *tile,
                                                      const int32_t *first,
                                                      int32_t count, const int8_t *a,
                                                      const int8_t *b, int32_t inner) {
    ember_mve_rows_t rows = {tile, first, b, a, inner, count >> 2};

    for (int32_t left = inner; left > 0; left -= CHUNK) {
        ember_mve_multiply_rows(&rows);
        rows.first = tile;
        rows.a += CHUNK;
        rows.b += CHUNK;
    }
}

// The same for rows of any length but 0: vectors, the last with lanes off.
static __attribute__((noinline)) void multiply(int32_t *tile, const int32_t *first,
                                               int32_t count, const int8_t *a,
                                               const int8_t *b, int32_t inner) {
    const int32_t *end = first + count;

    do {
        const int8_t *x = a, *b0 = b;
        const int8_t *b1 = b + inner, *b2 = b1 + inner, *b3 = b2 + inner;
        int32_t s0 = first[0], s1 = first[1], s2 = first[2], s3 = first[3];
        int32_t k = inner;
        b = b3 + inner;
        do {
            const mve_pred16_t lanes = vctp8q((uint32_t)k);
            const int8x16_t u = vldrbq_z_s8(x, lanes);
            s0 = vmladavaq_p_s8(s0, u, vldrbq_z_s8(b0, lanes), lanes);
            s1 = vmladavaq_p_s8(s1, u, vldrbq_z_s8(b1, lanes), lanes);
            s2 = vmladavaq_p_s8(s2, u, vldrbq_z_s8(b2, lanes), lanes);
            s3 = vmladavaq_p_s8(s3, u, vldrbq_z_s8(b3, lanes), lanes);
            x += EMBER_LANES_S8;
            b0 += EMBER_LANES_S8;
            b1 += EMBER_LANES_S8;
            b2 += EMBER_LANES_S8;
            b3 += EMBER_LANES_S8;
            k -= EMBER_LANES_S8;
        } while (k > 0);
        tile[0] = s0;
        tile[1] = s1;
        tile[2] = s2;
        tile[3] = s3;
        tile += 4;
        first += 4;
    } while (first != end);
}

// Whether outputs are shifted, and have no limits but int8's.
static bool is_plain(const ember_matmul_s8_t *s) {
    return s->by.shift < 0 && s->limits.low == INT8_MIN && s->limits.high == INT8_MAX;
}

// Scales `blocks` > 0 times sixteen sums of the tile, where `s` is plain.
static __attribute__((noinline)) void scale_plain(const ember_matmul_s8_t *s,
                                                  const int32_t *tile, int32_t blocks,
                                                  int8_t *c) {
    const int32x4_t shifts = vdupq_n_s32(s->by.shift);
    const int32x4_t by = vdupq_n_s32(s->by.multiplier);
    const int32_t zero_point = s->c_offset;

    do {
        const int32x4x2_t sums = vld2q_s32(tile);
        const int32x4x2_t next = vld2q_s32(tile + EMBER_LANES_S16);
        const int32x4_t even = ember_shifted_mve(sums.val[0], by, shifts);
        const int32x4_t odd = ember_shifted_mve(sums.val[1], by, shifts);
        const int32x4_t a = ember_shifted_mve(next.val[0], by, shifts);
        ember_store_eight_mve(c, even, odd, zero_point);
        const int32x4_t b = ember_shifted_mve(next.val[1], by, shifts);
        ember_store_eight_mve(c + EMBER_LANES_S16, a, b, zero_point);
        tile += 2 * EMBER_LANES_S16;
        c += 2 * EMBER_LANES_S16;
        blocks--;
    } while (blocks != 0);
}

// Scales `count` sums of the tile.
static __attribute__((noinline)) void
scale(const ember_matmul_s8_t *s, const int32_t *tile, int32_t count, int8_t *c) {
    const int32x4_t shifts = vdupq_n_s32(s->by.shift);
    const int32x4_t low = vdupq_n_s32(s->limits.low);
    const int32x4_t high = vdupq_n_s32(s->limits.high);
    const int32x4_t multipliers = vdupq_n_s32(s->by.multiplier);
    const int32_t zero_point = s->c_offset;

    for (; count > 0; count -= EMBER_LANES_S32) {
        const mve_pred16_t lanes = vctp32q((uint32_t)count);
        const int32x4_t sums = vldrwq_z_s32(tile, lanes);
        const int32x4_t scaled = ember_scaled_mve(sums, multipliers, shifts);
        vstrbq_p_s32(c, ember_limited_mve(scaled, zero_point, low, high), lanes);
        tile += EMBER_LANES_S32;
        c += EMBER_LANES_S32;
    }
}

INLINE void scale_all(const ember_matmul_s8_t *s, const int32_t *sums, int32_t count,
                      int8_t *c) {
    const int32_t whole = count & -2 * EMBER_LANES_S16;
    const int32_t plain = whole > 0 && is_plain(s) ? whole : 0;

    if (plain > 0) {
        scale_plain(s, sums, plain >> 4, c);
    }
    if (plain < count) {
        scale(s, sums + plain, count - plain, c + plain);
    }
}

// One row of a with all of b; `base` is added to every sum.
static void run_row(const ember_matmul_s8_t *s, const int32_t *first, const int8_t *a,
                    const int8_t *b, int8_t *c, int32_t base,
                    ember_matmul_ending_mve_t ending) {
    const bool chunks = s->inner % CHUNK == 0;
    int32_t tile[TILE];

    for (int32_t left = s->columns; left > 0; left -= TILE) {
        const int32_t count = left < TILE ? left : TILE;
        const int32_t fours = count & ~3;
        if (fours > 0 && s->inner > 0) {
            (chunks ? multiply_chunks : multiply)(tile, first, fours, a, b, s->inner);
            b += (ptrdiff_t)fours * s->inner;
        }
        for (int32_t j = fours; j < count; j++) {
            tile[j] = ember_dot_mve(first[j], a, b, s->inner);
            b += s->inner;
        }
        for (int32_t j = 0; base != 0 && j < count; j++) {
            tile[j] = (int32_t)((uint32_t)tile[j] + (uint32_t)base);
        }
        if (ending == NULL) {
            scale_all(s, tile, count, c);
        } else {
            ending(s, tile, count, c);
        }
        first += TILE;
        c += TILE;
    }
}

// What the offset of b adds to every sum with this row of a.
static int32_t base_of(const ember_matmul_s8_t *s, const int8_t *a) {
    int32_t base = 0;

    if (s->b_offset == 0) {
        return 0;
    }
    ember_sums_mve(&base, NULL, a, 1, s->inner, s->b_offset);
    const uint32_t both = (uint32_t)(s->a_offset * s->b_offset);
    return (int32_t)((uint32_t)base + both * (uint32_t)s->inner);
}

void ember_matmul_s8_mve_sums(const ember_matmul_s8_t *s, const int32_t *first,
                              const int8_t *a, const int8_t *b, int32_t count,
                              int32_t *sums) {
    const int32_t base = base_of(s, a);
    const int32_t fours = count & ~3;

    if (fours > 0) {
        multiply(sums, first, fours, a, b, s->inner);
        b += (ptrdiff_t)fours * s->inner;
    }
    for (int32_t j = fours; j < count; j++) {
        sums[j] = ember_dot_mve(first[j], a, b, s->inner);
        b += s->inner;
    }
    for (int32_t j = 0; base != 0 && j < count; j++) {
        sums[j] = (int32_t)((uint32_t)sums[j] + (uint32_t)base);
    }
}

void ember_matmul_s8_mve_first(const ember_matmul_s8_t *s, const int8_t *b,
                               int32_t count, int32_t *first) {
    ember_sums_mve(first, NULL, b, count, s->inner, s->a_offset);
}

void ember_matmul_s8_mve_run(const ember_matmul_s8_mve_t *mve,
                             ember_matmul_ending_mve_t ending) {
    const ember_matmul_s8_t *s = &mve->matmul;
    const int32_t *first = mve->sums == NULL ? s->bias : mve->sums;
    const int8_t *a = s->a;
    const int8_t *b = s->b;
    int8_t *c = s->c;

    for (int32_t n = 0; n < s->batches; n++) {
        if (mve->sums != NULL) {
            ember_sums_mve(mve->sums, s->bias, b, s->columns, s->inner, s->a_offset);
        }
        for (int32_t i = 0; i < s->rows; i++) {
            run_row(s, first, a, b, c, base_of(s, a), ending);
            a += s->inner;
            c += s->columns;
        }
        b += (ptrdiff_t)s->columns * s->inner;
    }
}

ember_status_t ember_matmul_s8_mve_prepare(ember_matmul_s8_mve_t *mve,
                                           ember_node_t *node) {
    const ember_matmul_s8_t *s = &mve->matmul;

    if ((!ember_matmul_s8_is_real(s) &&
         (s->by.shift < EMBER_SHIFT_MIN_MVE || s->by.shift > EMBER_SHIFT_MAX_MVE)) ||
        s->inner > MOST || s->columns > MOST) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: scale");
    }
    mve->sums = NULL;
    if (s->a_offset != 0 || s->bias == NULL) {
        mve->sums = ember_node_scratch(node, (size_t)s->columns * sizeof(int32_t));
    }
    return ember_node_status(node);
}
