// SPDX-License-Identifier: Apache-2.0
// Layers of int16 with Helium. Contract: conv_s16_mve.h.
#include "kernels/cortex_m/conv_s16_mve.h"

#include <arm_mve_s16.h>

#include "kernels/cortex_m/scale_s16_mve.h"

enum { TILE = EMBER_MVE_TILE_S16, COLUMNS = EMBER_COLUMNS_S16 };
enum { LANES = EMBER_LANES_S16, FOUR = 4, ROOM = COLUMNS * TILE }; // sums of one
enum { MOST = 1 << 20 }; // elements of a column, filters

typedef ember_conv_s16_mve_t state_t;

// --- columns -------------------------------------------------------------------------

INLINE void copy_run(int16_t *to, const int16_t *from, int32_t length) {
    for (; length > 0; length -= LANES) {
        const mve_pred16_t lanes = vctp16q((uint32_t)length);
        vstrhq_p_s16(to, vldrhq_z_s16(from, lanes), lanes);
        to += LANES;
        from += LANES;
    }
}

static void copy(const ember_runs_s16_t *runs) {
    const int16_t *from = runs->from;
    int16_t *to = runs->to;

    for (int32_t row = runs->rows; row > 0; row--) {
        for (int32_t run = 0; run < runs->across; run++) {
            copy_run(to + run * runs->length, from + run * runs->step, runs->length);
        }
        from += runs->pitch;
        to += runs->line;
    }
}

static void copy_column(const state_t *s, const ember_column_s16_t *column, int16_t *to,
                        bool whole) {
    const int16x8_t zero = vdupq_n_s16(0);
    ember_runs_s16_t runs;

    if (whole) {
        runs = ember_runs_s16(&s->conv, column, to);
    } else {
        for (int32_t at = 0; at < s->inner; at += LANES) {
            vstrhq_p_s16(to + at, zero, vctp16q((uint32_t)(s->inner - at)));
        }
        runs = ember_runs_s16_inside(&s->conv, column, to);
    }
    copy(&runs);
}

// --- sums ----------------------------------------------------------------------------

// Sums of `count` filters from `w` on with columns of at most one vector.
static __attribute__((noinline)) void multiply_one(int32_t *tile, const int32_t *first,
                                                   const int8_t *w, int32_t count,
                                                   const int16_t *const *columns,
                                                   int32_t inner) {
    const mve_pred16_t lanes = vctp16q((uint32_t)inner);
    const int16x8_t u = vldrhq_z_s16(columns[0], lanes);
    const int16x8_t v = vldrhq_z_s16(columns[1], lanes);
    const int16x8_t t = vldrhq_z_s16(columns[2], lanes);

    for (; count > 0; count--) {
        const int16x8_t a = vldrbq_z_s16(w, lanes);
        tile[0] = vmladavaq_s16(*first, a, u);
        tile[TILE] = vmladavaq_s16(*first, a, v);
        tile[2 * TILE] = vmladavaq_s16(*first, a, t);
        tile++;
        first++;
        w += inner;
    }
}

// The same with columns of two vectors.
static __attribute__((noinline)) void multiply_two(int32_t *tile, const int32_t *first,
                                                   const int8_t *w, int32_t count,
                                                   const int16_t *const *columns,
                                                   int32_t inner) {
    const mve_pred16_t lanes = vctp16q((uint32_t)(inner - LANES));
    const int16x8_t u0 = vldrhq_s16(columns[0]), v0 = vldrhq_s16(columns[1]);
    const int16x8_t t0 = vldrhq_s16(columns[2]);
    const int16x8_t u1 = vldrhq_z_s16(columns[0] + LANES, lanes);
    const int16x8_t v1 = vldrhq_z_s16(columns[1] + LANES, lanes);
    const int16x8_t t1 = vldrhq_z_s16(columns[2] + LANES, lanes);

    for (; count > 0; count--) {
        const int16x8_t a = vldrbq_s16(w);
        const int32_t p = vmladavaq_s16(*first, a, u0);
        const int32_t q = vmladavaq_s16(*first, a, v0);
        const int32_t r = vmladavaq_s16(*first, a, t0);
        const int16x8_t b = vldrbq_z_s16(w + LANES, lanes);
        tile[0] = vmladavaq_s16(p, b, u1);
        tile[TILE] = vmladavaq_s16(q, b, v1);
        tile[2 * TILE] = vmladavaq_s16(r, b, t1);
        tile++;
        first++;
        w += inner;
    }
}

// The sum of one filter with one column.
INLINE int32_t sum_of(int32_t sum, const int8_t *w, const int16_t *x, int32_t inner) {
    for (int32_t left = inner; left > 0; left -= LANES) {
        const mve_pred16_t lanes = vctp16q((uint32_t)left);
        sum =
            vmladavaq_p_s16(sum, vldrhq_z_s16(x, lanes), vldrbq_z_s16(w, lanes), lanes);
        x += LANES;
        w += LANES;
    }
    return sum;
}

// The same with columns of any length.
static __attribute__((noinline)) void multiply_any(int32_t *tile, const int32_t *first,
                                                   const int8_t *w, int32_t count,
                                                   const int16_t *const *columns,
                                                   int32_t inner) {
    const ember_mve_tiles_s16_t tiles = {
        .columns = {columns[0], columns[1], columns[2]},
        .inner = inner,
        .past = -inner & (LANES - 1),
        .end = tile + (count & ~1),
        .tile = tile,
        .w = w,
    };
    const int32_t last = count - 1;

    ember_copy_mve((int8_t *)tile, (const int8_t *)first,
                   count * (int32_t)sizeof(*first));
    if (last > 0) {
        ember_mve_multiply_tiles_s16(&tiles);
    }
    for (int32_t n = 0; (count & 1) != 0 && n < COLUMNS; n++) {
        tile[n * TILE + last] =
            sum_of(first[last], w + last * inner, columns[n], inner);
    }
}

static void multiply(int32_t *tile, const int32_t *first, const int8_t *w,
                     int32_t count, const int16_t *const *columns, int32_t inner) {
    if (inner <= LANES) {
        multiply_one(tile, first, w, count, columns, inner);
    } else if (inner <= 2 * LANES) {
        multiply_two(tile, first, w, count, columns, inner);
    } else {
        multiply_any(tile, first, w, count, columns, inner);
    }
}

// --- outputs -------------------------------------------------------------------------

// The outputs of `count` filters, from filter `from` on.
INLINE void scale(const ember_conv_s16_t *conv, const int32_t *sums, int32_t from,
                  int32_t count, int16_t *y) {
    const ember_scales_s8_t *scales = &conv->conv.scales;
    const int32_t *multipliers = scales->multipliers + from;
    const int32_t *shifts = scales->shifts + from;
    const int32x4_t least = vdupq_n_s32(conv->limits.low);
    const int32x4_t most = vdupq_n_s32(conv->limits.high);

    y += from;
    for (; count > 0; count -= EMBER_LANES_S32) {
        const mve_pred16_t lanes = vctp32q((uint32_t)count);
        const int32x4_t by = vldrwq_z_s32(multipliers, lanes);
        const int32x4_t shift = vldrwq_z_s32(shifts, lanes);
        const int32x4_t u = ember_scaled_mve(vldrwq_z_s32(sums, lanes), by, shift);
        vstrhq_p_s32(y, vminq_s32(vmaxq_s32(u, least), most), lanes);
        multipliers += EMBER_LANES_S32;
        shifts += EMBER_LANES_S32;
        sums += EMBER_LANES_S32;
        y += EMBER_LANES_S32;
    }
}

static __attribute__((noinline)) void scale_all(const state_t *s, int32_t from,
                                                int32_t count,
                                                const ember_column_s16_t *columns,
                                                int32_t filled) {
    for (int32_t n = 0; n < filled; n++) {
        scale(&s->conv, s->tile + n * TILE, from, count, columns[n].y);
    }
}

static const int32_t *first_of(const state_t *s) {
    return s->zeros != NULL ? s->zeros : s->conv.conv.scales.bias;
}

// The sums of filters in fours with one column, block by block.
static void multiply_fours(ember_mve_rows_s16_t rows, int32_t inner) {
    const int32_t blocks = inner / EMBER_MVE_BLOCK_S16;

    for (int32_t left = blocks; left > 0; left--) {
        ember_mve_multiply_block_s16(&rows);
        rows.first = rows.sums;
        rows.rows += EMBER_MVE_BLOCK_S16;
        rows.x += EMBER_MVE_BLOCK_S16;
    }
    rows.count = inner % EMBER_MVE_BLOCK_S16;
    if (rows.count > 0) {
        ember_mve_multiply_rows_s16(&rows);
    }
}

// One column with all filters, four at a time.
static void run_single(const state_t *s, const int16_t *x,
                       const ember_column_s16_t *column) {
    const int32_t filters = s->conv.conv.filters, inner = s->inner;
    const int32_t *first = first_of(s);
    const int8_t *w = s->conv.conv.w;

    for (int32_t from = 0; from < filters; from += ROOM) {
        const int32_t left = filters - from;
        const int32_t count = left < ROOM ? left : ROOM;
        const ember_mve_rows_s16_t rows = {
            .sums = s->tile,
            .first = first + from,
            .rows = w,
            .x = x,
            .step = inner,
            .fours = count / FOUR,
        };
        if (rows.fours > 0) {
            multiply_fours(rows, inner);
        }
        for (int32_t f = rows.fours * FOUR; f < count; f++) {
            s->tile[f] = sum_of(first[from + f], w + f * inner, x, inner);
        }
        scale(&s->conv, s->tile, from, count, column->y);
        w += ROOM * inner;
    }
}

static void take(const void *state, const ember_column_s16_t columns[COLUMNS],
                 int32_t count, bool whole) {
    const state_t *s = state;
    const int32_t filters = s->conv.conv.filters, inner = s->inner;
    const int32_t *first = first_of(s);
    const int8_t *w = s->conv.conv.w;
    const int16_t *x[COLUMNS];

    for (int32_t n = 0; n < COLUMNS; n++) {
        x[n] = s->copies == NULL ? columns[n].from : s->copies + n * inner;
        if (s->copies != NULL && n < count) {
            copy_column(s, &columns[n], s->copies + n * inner, whole);
        }
    }
    if (count == 1) {
        run_single(s, x[0], columns);
        return;
    }
    x[2] = count < COLUMNS ? x[0] : x[2];
    for (int32_t from = 0; from < filters; from += TILE) {
        const int32_t left = filters - from;
        const int32_t some = left < TILE ? left : TILE;
        multiply(s->tile, first + from, w, some, x, inner);
        scale_all(s, from, some, columns, count);
        w += TILE * inner;
    }
}

void ember_conv_s16_mve_run(const state_t *s) {
    const int32_t size = s->conv.conv.filters * (int32_t)sizeof(int32_t);

    if (s->zeros != NULL) {
        ember_fill_mve((int8_t *)s->zeros, 0, size);
    }
    ember_columns_s16_walk(&s->conv, take, s);
}

// --- preparing -----------------------------------------------------------------------

ember_status_t ember_conv_s16_mve_prepare(state_t *s, ember_node_t *node) {
    const ember_conv_s8_t *conv = &s->conv.conv;
    const int64_t inner = ember_conv_s8_taps(conv) * conv->depth;

    if (conv->depth != conv->channels || inner > MOST || conv->filters > MOST ||
        conv->rows < EMBER_ROWS_RIGHT) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "ember: not for Helium");
    }
    s->inner = (int32_t)inner;
    const int32_t tile = COLUMNS * TILE * (int32_t)sizeof(int32_t);
    const int32_t zeros =
        conv->scales.bias != NULL ? 0 : conv->filters * (int32_t)sizeof(int32_t);
    const int32_t copies = ember_conv_s8_is_direct(conv)
                               ? 0
                               : COLUMNS * s->inner * (int32_t)sizeof(int16_t);
    int8_t *scratch = ember_node_scratch(node, (size_t)(tile + zeros + copies));
    s->tile = (int32_t *)(void *)scratch;
    s->zeros = NULL;
    s->copies = NULL;
    if (scratch == NULL) {
        return ember_node_status(node);
    }
    s->zeros = zeros > 0 ? (int32_t *)(void *)(scratch + tile) : NULL;
    s->copies = copies > 0 ? (int16_t *)(void *)(scratch + tile + zeros) : NULL;
    return ember_node_status(node);
}
