// SPDX-License-Identifier: Apache-2.0
// Contract: transpose_hvx.h. Pairs of vectors are shuffled until each, which was a part
// of a row, has some columns of all rows; of few columns, the other way round.
#include "kernels/movement/transpose_hvx.h"

#include <stddef.h>

#include "kernels/cortex_m/scale_hvx.h"

enum { BLOCK = 64 }; // vectors

typedef ember_transpose_hvx_t matrix_t;

static int32_t less(int32_t a, int32_t b) {
    return a < b ? a : b;
}

// The least power of two that is not below `count`.
static int32_t power(int32_t count) {
    int32_t all = 1;
    while (all < count) {
        all *= 2;
    }
    return all;
}

// The first `bytes` of a row. What lies behind them is read, too, where the source goes
// on: up to `end`.
INLINE HVX_Vector load(const uint8_t *at, const uint8_t *end, int32_t bytes) {
    return end - at >= EMBER_HVX ? ember_hvx_load_any(at)
                                 : ember_hvx_load_part(at, bytes);
}

// Behind the last byte of the source; of rows from the last to the first, nothing that
// is before it.
static const uint8_t *end_of(const matrix_t *s, const uint8_t *from) {
    return s->row < 0 ? from
                      : from + (ptrdiff_t)(s->rows - 1) * s->row + s->columns * s->size;
}

// --- rows become columns -------------------------------------------------------------

// Loads up to a vector of each row.
static void load_rows(HVX_Vector *x, const matrix_t *s, const uint8_t *from,
                      const uint8_t *end, int32_t rows, int32_t bytes) {
    for (int32_t left = rows; left > 0; left--) {
        ember_hvx_store(x++, load(from, end, bytes));
        from += s->row;
    }
}

// Exchanges elements of two vectors.
INLINE void exchange(HVX_Vector *a, HVX_Vector *b, int32_t size) {
    const HVX_VectorPair both = Q6_W_vshuff_VVR(*b, *a, -size);
    *a = Q6_V_lo_W(both);
    *b = Q6_V_hi_W(both);
}

// Two steps at once, of vectors four of which are `apart`; or the last one, of pairs.
static void shuffle_fours(HVX_Vector *x, int32_t apart, int32_t size) {
    for (int32_t i = 0; i < apart; i++) {
        HVX_Vector a = ember_hvx_load(x), b = ember_hvx_load(x + apart);
        HVX_Vector c = ember_hvx_load(x + 2 * apart), d = ember_hvx_load(x + 3 * apart);
        exchange(&a, &c, size);
        exchange(&b, &d, size);
        exchange(&a, &b, size);
        exchange(&c, &d, size);
        ember_hvx_store(x, a);
        ember_hvx_store(x + apart, b);
        ember_hvx_store(x + 2 * apart, c);
        ember_hvx_store(x + 3 * apart, d);
        x++;
    }
}

static void shuffle_pairs(HVX_Vector *x, int32_t count, int32_t size) {
    for (int32_t i = 0; i < count; i += 2) {
        HVX_Vector a = ember_hvx_load(x + i), b = ember_hvx_load(x + i + 1);
        exchange(&a, &b, size);
        ember_hvx_store(x + i, a);
        ember_hvx_store(x + i + 1, b);
    }
}

// Vectors of `count` rows become such of columns: all their elements side by side.
static void shuffle(HVX_Vector *x, int32_t count, int32_t size) {
    int32_t apart = count / 4;

    for (; apart > 0; apart /= 4) {
        for (int32_t first = 0; first < count; first += 4 * apart) {
            shuffle_fours(x + first, apart, size);
        }
        if (apart == 2) {
            break;
        }
    }
    if (apart == 2 || count == 2) {
        shuffle_pairs(x, count, size);
    }
}

// Columns of `bytes` each, `width` apart in the vectors, `step` in the destination.
// Where they are adjacent, whole vectors are stored in order: what is clobbered after
// one is written next. Returns where they continue.
static uint8_t *put(uint8_t *to, const uint8_t *end, const HVX_Vector *from,
                    int32_t width, int32_t bytes, int32_t step, int32_t columns) {
    if (width == step) { // vectors are adjacent, too
        for (int32_t left = columns * step; left > 0; left -= EMBER_HVX) {
            ember_store_left_hvx((int8_t *)to, ember_hvx_load(from++), left);
            to += less(left, EMBER_HVX);
        }
        return to;
    }
    while (columns > 0) {
        HVX_Vector some = ember_hvx_load(from++);
        for (int32_t at = 0; at < EMBER_HVX && columns > 0; at += width, columns--) {
            if (bytes == step && end - to >= EMBER_HVX) {
                ember_hvx_store_any(to, some);
            } else {
                ember_hvx_store_part(to, some, bytes);
            }
            some = Q6_V_vror_VR(some, width);
            to += step;
        }
    }
    return to;
}

// Up to a block of rows.
static void turn_rows(const matrix_t *s, uint8_t *to, const uint8_t *from,
                      const uint8_t *past, int32_t rows) {
    const int32_t most = EMBER_HVX / s->size, count = power(rows);
    const uint8_t *end = to + (ptrdiff_t)s->columns * s->step;
    HVX_Vector x[BLOCK];

    for (int32_t i = rows; i < count; i++) {
        ember_hvx_store(x + i, Q6_V_vzero());
    }
    for (int32_t j = 0; j < s->columns; j += most, from += EMBER_HVX) {
        const int32_t some = less(s->columns - j, most);
        load_rows(x, s, from, past, rows, some * s->size);
        shuffle(x, count, s->size);
        to = put(to, end, x, count * s->size, rows * s->size, s->step, some);
    }
}

// --- columns become rows -------------------------------------------------------------

// A vector of rows, `width` bytes apart in it; `rows` > 0 of them.
static HVX_Vector join(const uint8_t *from, const uint8_t *end, int32_t row,
                       int32_t rows, int32_t width, int32_t bytes) {
    const HVX_VectorPred first = Q6_Q_vsetq_R(width);
    const uint8_t *at = from + (ptrdiff_t)(rows - 1) * row;

    if (row == width) {
        return load(from, end, rows * width);
    }
    HVX_Vector all = load(at, end, bytes);
    for (int32_t left = rows - 1; left > 0; left--) {
        at -= row;
        all = Q6_V_vmux_QVV(first, load(at, end, bytes), Q6_V_vror_VR(all, -width));
    }
    return all;
}

INLINE void part(HVX_Vector *a, HVX_Vector *b, int32_t size) {
    const HVX_VectorPair both = Q6_W_vdeal_VVR(*b, *a, -size);
    *a = Q6_V_lo_W(both);
    *b = Q6_V_hi_W(both);
}

// Two steps at once, of vectors four of which are `apart`; or the last one, of pairs.
static void deal_fours(HVX_Vector *x, int32_t apart, int32_t size) {
    for (int32_t i = 0; i < apart; i++) {
        HVX_Vector a = ember_hvx_load(x), b = ember_hvx_load(x + apart);
        HVX_Vector c = ember_hvx_load(x + 2 * apart), d = ember_hvx_load(x + 3 * apart);
        part(&a, &b, size);
        part(&c, &d, size);
        part(&a, &c, size);
        part(&b, &d, size);
        ember_hvx_store(x, a);
        ember_hvx_store(x + apart, b);
        ember_hvx_store(x + 2 * apart, c);
        ember_hvx_store(x + 3 * apart, d);
        x++;
    }
}

static void deal_pairs(HVX_Vector *x, int32_t count, int32_t size) {
    const int32_t apart = count / 2;

    for (int32_t i = 0; i < apart; i++) {
        HVX_Vector a = ember_hvx_load(x + i), b = ember_hvx_load(x + i + apart);
        part(&a, &b, size);
        ember_hvx_store(x + i, a);
        ember_hvx_store(x + i + apart, b);
    }
}

// The reverse of shuffle().
static void deal(HVX_Vector *x, int32_t count, int32_t size) {
    int32_t apart = 1;

    for (; 4 * apart <= count; apart *= 4) {
        for (int32_t first = 0; first < count; first += 4 * apart) {
            deal_fours(x + first, apart, size);
        }
    }
    if (2 * apart == count) {
        deal_pairs(x, count, size);
    }
}

// Up to a block of columns.
static void turn_columns(const matrix_t *s, uint8_t *to, const uint8_t *from,
                         const uint8_t *end, int32_t columns) {
    const int32_t count = power(columns), width = count * s->size;
    const int32_t each = EMBER_HVX / width, most = EMBER_HVX / s->size;
    HVX_Vector x[BLOCK];

    for (int32_t i = 0; i < s->rows; i += most) {
        const int32_t rows = less(s->rows - i, most);
        for (int32_t k = 0; k < count; k++) {
            const int32_t some = less(rows - k * each, each);
            if (some > 0) {
                const uint8_t *at = from + (ptrdiff_t)(i + k * each) * s->row;
                ember_hvx_store(x + k,
                                join(at, end, s->row, some, width, columns * s->size));
            } else {
                ember_hvx_store(x + k, Q6_V_vzero());
            }
        }
        deal(x, count, s->size);
        uint8_t *y = to + (ptrdiff_t)i * s->size;
        for (int32_t c = 0; c < columns; c++) {
            ember_store_left_hvx((int8_t *)y, ember_hvx_load(x + c), rows * s->size);
            y += s->step;
        }
    }
}

void ember_transpose_hvx(const ember_transpose_hvx_t *s, uint8_t *to,
                         const uint8_t *from) {
    const int32_t most = less(BLOCK, EMBER_HVX / s->size);
    const uint8_t *end = end_of(s, from);

    if (s->rows <= s->columns) {
        for (int32_t i = 0; i < s->rows; i += most) {
            turn_rows(s, to + (ptrdiff_t)i * s->size, from + (ptrdiff_t)i * s->row, end,
                      less(s->rows - i, most));
        }
    } else {
        for (int32_t j = 0; j < s->columns; j += most) {
            turn_columns(s, to + (ptrdiff_t)j * s->step, from + (ptrdiff_t)j * s->size,
                         end, less(s->columns - j, most));
        }
    }
}
