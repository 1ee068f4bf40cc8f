// SPDX-License-Identifier: Apache-2.0
// Contract: transpose_hvx.h. Pairs of vectors are shuffled until each, which was a part
// of a row, has some columns of all rows; of few columns, the other way round.
#include "kernels/engine/hvx/transpose_hvx.h"

#include <stddef.h>

#include "kernels/engine/hvx/scale_hvx.h"

enum { BLOCK = 64, MOST = 16, STEPS = 4 }; // vectors; of those in registers
enum { FOUR = 4, WIDE = 32 }; // more columns are worth whole vectors of rows

typedef ember_transpose_hvx_t matrix_t;

// Of bytes in a vector.
static const uint8_t PLACES[EMBER_HVX] __attribute__((aligned(EMBER_HVX))) = {
    0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12,  13,  14,  15,
    16,  17,  18,  19,  20,  21,  22,  23,  24,  25,  26,  27,  28,  29,  30,  31,
    32,  33,  34,  35,  36,  37,  38,  39,  40,  41,  42,  43,  44,  45,  46,  47,
    48,  49,  50,  51,  52,  53,  54,  55,  56,  57,  58,  59,  60,  61,  62,  63,
    64,  65,  66,  67,  68,  69,  70,  71,  72,  73,  74,  75,  76,  77,  78,  79,
    80,  81,  82,  83,  84,  85,  86,  87,  88,  89,  90,  91,  92,  93,  94,  95,
    96,  97,  98,  99,  100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111,
    112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127};

static int32_t less(int32_t a, int32_t b) {
    return a < b ? a : b;
}

// Of the least power of two that is not below `count`.
static int32_t places_of(int32_t count) {
    int32_t places = 0;
    while (1 << places < count) {
        places++;
    }
    return places;
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

// --- exchanges -----------------------------------------------------------------------

// Exchanges elements of `count` vectors in registers, a power of two: of each and the
// one half of them further, then a quarter, until neighbours; or back, neighbours
// first.
INLINE void exchange(HVX_Vector *own, int32_t size, int count, bool back) {
    EMBER_HVX_UNROLL
    for (int n = 1; n < count; n *= 2) {
        const int far = back ? n : count / 2 / n;
        EMBER_HVX_UNROLL
        for (int k = 0; k < count; k++) {
            if ((k & far) == 0) {
                const HVX_VectorPair both =
                    back ? Q6_W_vdeal_VVR(own[k + far], own[k], size)
                         : Q6_W_vshuff_VVR(own[k + far], own[k], size);
                own[k] = Q6_V_lo_W(both);
                own[k + far] = Q6_V_hi_W(both);
            }
        }
    }
}

// The same of `apart` such sets of vectors, `apart` vectors from one to the next.
INLINE void steps(HVX_Vector *x, int32_t apart, int32_t size, int count, bool back) {
    for (int32_t i = 0; i < apart; i++, x++) {
        HVX_Vector own[MOST];
        EMBER_HVX_UNROLL
        for (int k = 0; k < count; k++) {
            own[k] = ember_hvx_load(x + k * apart);
        }
        exchange(own, size, count, back);
        EMBER_HVX_UNROLL
        for (int k = 0; k < count; k++) {
            ember_hvx_store(x + k * apart, own[k]);
        }
    }
}

// A function for each number of steps, and one that chooses.
#define EXCHANGE(NAME, BACK)                                                           \
    static __attribute__((noinline)) void NAME##_1(HVX_Vector *x, int32_t apart,       \
                                                   int32_t size) {                     \
        steps(x, apart, size, 2, BACK);                                                \
    }                                                                                  \
    static __attribute__((noinline)) void NAME##_2(HVX_Vector *x, int32_t apart,       \
                                                   int32_t size) {                     \
        steps(x, apart, size, 4, BACK);                                                \
    }                                                                                  \
    static __attribute__((noinline)) void NAME##_3(HVX_Vector *x, int32_t apart,       \
                                                   int32_t size) {                     \
        steps(x, apart, size, 8, BACK);                                                \
    }                                                                                  \
    static __attribute__((noinline)) void NAME##_4(HVX_Vector *x, int32_t apart,       \
                                                   int32_t size) {                     \
        steps(x, apart, size, 16, BACK);                                               \
    }                                                                                  \
    static void NAME(HVX_Vector *x, int32_t apart, int32_t some, int32_t size) {       \
        switch (some) {                                                                \
        case 1:                                                                        \
            NAME##_1(x, apart, size);                                                  \
            break;                                                                     \
        case 2:                                                                        \
            NAME##_2(x, apart, size);                                                  \
            break;                                                                     \
        case 3:                                                                        \
            NAME##_3(x, apart, size);                                                  \
            break;                                                                     \
        default:                                                                       \
            NAME##_4(x, apart, size);                                                  \
            break;                                                                     \
        }                                                                              \
    }

EXCHANGE(shuffle_some, false)
EXCHANGE(deal_some, true)

// 1 shifted by `places` vectors of rows become such of columns: all their elements side
// by side.
static void shuffle(HVX_Vector *x, int32_t places, int32_t size) {
    int32_t some;

    for (int32_t left = places; left > 0; left -= some) {
        some = left % STEPS == 0 ? STEPS : left % STEPS;
        for (int32_t first = 0; first < 1 << places; first += 1 << left) {
            shuffle_some(x + first, 1 << (left - some), some, -size);
        }
    }
}

// The reverse of shuffle().
static void deal(HVX_Vector *x, int32_t places, int32_t size) {
    for (int32_t done = 0; done < places; done += STEPS) {
        const int32_t some = less(places - done, STEPS);
        for (int32_t first = 0; first < 1 << places; first += 1 << (done + some)) {
            deal_some(x + first, 1 << done, some, -size);
        }
    }
}

// --- rows become columns -------------------------------------------------------------

// How many rows have a vector before `end`.
static int32_t whole_rows(const matrix_t *s, const uint8_t *from, const uint8_t *end,
                          int32_t rows) {
    const ptrdiff_t past = end - from - EMBER_HVX;
    int32_t whole = s->row > 0 ? rows : 0;

    while (whole > 0 && (ptrdiff_t)(whole - 1) * s->row > past) {
        whole--;
    }
    return whole;
}

// Loads up to a vector of each row.
static void load_rows(HVX_Vector *x, const matrix_t *s, const uint8_t *from,
                      const uint8_t *end, int32_t rows, int32_t bytes) {
    const int32_t whole = whole_rows(s, from, end, rows);

    for (int32_t i = 0; i < whole; i++) {
        ember_hvx_store(x++, ember_hvx_load_any(from));
        from += s->row;
    }
    for (int32_t left = rows - whole; left > 0; left--) {
        ember_hvx_store(x++, load(from, end, bytes));
        from += s->row;
    }
}

// Columns `width` apart, a power of two, become adjacent: `step` apart. Blocks of two
// columns are closed up, then blocks of four.
INLINE HVX_Vector closed_up(HVX_Vector x, int32_t width, int32_t step) {
    const HVX_Vector places = ember_hvx_load(PLACES);

    for (; width < EMBER_HVX; width *= 2, step *= 2) {
        const HVX_Vector at = Q6_V_vand_VV(places, Q6_Vb_vsplat_R(2 * width - 1));
        const HVX_VectorPred moved = Q6_Q_vcmp_gt_VubVub(at, Q6_Vb_vsplat_R(step - 1));
        x = Q6_V_vmux_QVV(moved, Q6_V_vror_VR(x, width - step), x);
    }
    return x;
}

// Columns of `bytes` each, `width` apart in the vectors, `step` in the destination.
// Where they become adjacent, whole vectors are stored in order: what is clobbered
// after one is written next. Returns where they continue.
static uint8_t *put(uint8_t *to, const uint8_t *end, const HVX_Vector *from,
                    int32_t width, int32_t bytes, int32_t step, int32_t columns) {
    const int32_t each = EMBER_HVX / width;

    if (width == step) { // vectors are adjacent, too
        const int32_t all = columns * step, rest = all % EMBER_HVX;
        for (int32_t left = all / EMBER_HVX; left > 0; left--) {
            ember_hvx_store_any(to, ember_hvx_load(from++));
            to += EMBER_HVX;
        }
        if (rest > 0) {
            ember_hvx_store_part(to, ember_hvx_load(from), rest);
        }
        return to + rest;
    }
    if (bytes == step) {
        for (; columns > 0; columns -= each) {
            const HVX_Vector some = closed_up(ember_hvx_load(from++), width, step);
            const int32_t count = less(columns, each) * step;
            if (end - to >= EMBER_HVX) {
                ember_hvx_store_any(to, some);
            } else {
                ember_hvx_store_part(to, some, count);
            }
            to += count;
        }
        return to;
    }
    if (bytes == EMBER_HVX) {
        for (; columns > 0; columns--) {
            ember_hvx_store_any(to, ember_hvx_load(from++));
            to += step;
        }
        return to;
    }
    while (columns > 0) {
        HVX_Vector some = ember_hvx_load(from++);
        for (int32_t at = 0; at < EMBER_HVX && columns > 0; at += width, columns--) {
            ember_hvx_store_part(to, some, bytes);
            some = Q6_V_vror_VR(some, width);
            to += step;
        }
    }
    return to;
}

// Vectors of `count` rows, of few columns: of one and the one half of them further,
// which have room in one, then a quarter, as long as the first half of a vector is all.
// Returns how many steps of shuffle() that were.
static int32_t merge(HVX_Vector *x, int32_t count, int32_t size, int32_t bytes) {
    int32_t done = 0;

    for (; count > 1 && bytes <= EMBER_HVX / 2; done++) {
        count /= 2;
        bytes *= 2;
        for (int32_t k = 0; k < count; k++) {
            const HVX_VectorPair both = Q6_W_vshuff_VVR(ember_hvx_load(x + k + count),
                                                        ember_hvx_load(x + k), -size);
            ember_hvx_store(x + k, Q6_V_lo_W(both));
        }
    }
    return done;
}

// Up to a block of rows.
static void turn_rows(const matrix_t *s, uint8_t *to, const uint8_t *from,
                      const uint8_t *past, int32_t rows) {
    const int32_t most = EMBER_HVX / s->size, places = places_of(rows);
    const int32_t count = 1 << places;
    const uint8_t *end = to + (ptrdiff_t)s->columns * s->step;
    HVX_Vector x[BLOCK];

    for (int32_t j = 0; j < s->columns; j += most, from += EMBER_HVX) {
        const int32_t some = less(s->columns - j, most);
        for (int32_t i = rows; i < count; i++) {
            ember_hvx_store(x + i, Q6_V_vzero());
        }
        load_rows(x, s, from, past, rows, some * s->size);
        shuffle(x, places - merge(x, count, s->size, some * s->size), s->size);
        to = put(to, end, x, count * s->size, rows * s->size, s->step, some);
    }
}

// --- many rows become whole vectors --------------------------------------------------

// A vector of row `i` of `rows`; anything behind the last.
INLINE HVX_Vector row_of(const matrix_t *s, const uint8_t *from, const uint8_t *end,
                         int32_t i, int32_t rows, int32_t bytes) {
    return load(from + (ptrdiff_t)less(i, rows - 1) * s->row, end, bytes);
}

// Bytes of rows by turns: of the first 64 columns, or of those behind.
INLINE HVX_Vector by_turns(HVX_Vector first, HVX_Vector second, bool behind) {
    const HVX_VectorPair both = Q6_W_vshuff_VVR(second, first, -1);
    return behind ? Q6_V_hi_W(both) : Q6_V_lo_W(both);
}

// Rows i and i + 64 by turns, exchanged among four vectors, of `count` sets of rows
// that have all a vector.
INLINE void begin_whole(HVX_Vector *x, const matrix_t *s, const uint8_t *from,
                        int32_t count, bool behind) {
    const ptrdiff_t quarter = (ptrdiff_t)MOST * s->row;

    for (; count > 0; count--) {
        const uint8_t *at = from;
        HVX_Vector own[FOUR];
        EMBER_HVX_UNROLL
        for (int k = 0; k < FOUR; k++) {
            own[k] = by_turns(ember_hvx_load_any(at),
                              ember_hvx_load_any(at + FOUR * quarter), behind);
            at = ember_hvx_somewhere(at + quarter);
        }
        exchange(own, -1, FOUR, false);
        EMBER_HVX_UNROLL
        for (int k = 0; k < FOUR; k++) {
            ember_hvx_store(x + k * MOST, own[k]);
        }
        from += s->row;
        x++;
    }
}

static void begin(HVX_Vector *x, const matrix_t *s, const uint8_t *from,
                  const uint8_t *end, int32_t rows, int32_t bytes, bool behind) {
    const int32_t whole = whole_rows(s, from, end, rows) - (EMBER_HVX - MOST);
    const int32_t sets = whole > 0 ? whole : 0;

    if (behind) {
        begin_whole(x, s, from, sets, true);
    } else {
        begin_whole(x, s, from, sets, false);
    }
    for (int32_t i = sets; i < MOST; i++) {
        HVX_Vector own[FOUR];
        EMBER_HVX_UNROLL
        for (int k = 0; k < FOUR; k++) {
            const int32_t row = i + k * MOST;
            own[k] = by_turns(row_of(s, from, end, row, rows, bytes),
                              row_of(s, from, end, row + BLOCK, rows, bytes), behind);
        }
        exchange(own, -1, FOUR, false);
        EMBER_HVX_UNROLL
        for (int k = 0; k < FOUR; k++) {
            ember_hvx_store(x + k * MOST + i, own[k]);
        }
    }
}

// Sixteen columns. Bytes behind one are written next, or are those of the next.
static __attribute__((noinline)) void finish_whole(const HVX_Vector *x, uint8_t *to,
                                                   int32_t step) {
    HVX_Vector own[MOST];

    EMBER_HVX_UNROLL
    for (int k = 0; k < MOST; k++) {
        own[k] = ember_hvx_load(x + k);
    }
    exchange(own, -1, MOST, false);
    EMBER_HVX_UNROLL
    for (int k = 0; k < MOST; k++) {
        ember_hvx_store_any(to, own[k]);
        to += step;
    }
}

// Up to sixteen columns of `rows`.
static uint8_t *finish(HVX_Vector *x, uint8_t *to, const uint8_t *end,
                       const matrix_t *s, int32_t rows, int32_t columns) {
    const bool inside = end - to >= (ptrdiff_t)(MOST - 1) * s->step + EMBER_HVX;

    if (columns == MOST && inside && (rows == EMBER_HVX || rows == s->step)) {
        finish_whole(x, to, s->step);
        return to + (ptrdiff_t)MOST * s->step;
    }
    shuffle_some_4(x, 1, -1);
    return put(to, end, x, EMBER_HVX, rows, s->step, columns);
}

// Bytes, of more than a block and up to two blocks of rows: columns fill vectors.
static void turn_pairs(const matrix_t *s, uint8_t *to, const uint8_t *from,
                       const uint8_t *past, int32_t rows) {
    const uint8_t *end = to + (ptrdiff_t)s->columns * s->step;
    HVX_Vector x[BLOCK];

    for (int32_t j = 0; j < s->columns; j += BLOCK) {
        const int32_t first = j & -EMBER_HVX; // of the vectors that are loaded
        begin(x, s, from + first, past, rows, less(s->columns - first, EMBER_HVX),
              j != first);
        for (int32_t i = 0; i < BLOCK && i + j < s->columns; i += MOST) {
            to = finish(x + i, to, end, s, rows, less(s->columns - i - j, MOST));
        }
    }
}

// Of two blocks of rows and more, the last two overlap.
static void turn_wide(const matrix_t *s, uint8_t *to, const uint8_t *from,
                      const uint8_t *end) {
    const int32_t rows = less(s->rows, EMBER_HVX);

    for (int32_t i = 0; i < s->rows; i += EMBER_HVX) {
        const int32_t at = less(i, s->rows - rows);
        turn_pairs(s, to + at, from + (ptrdiff_t)at * s->row, end, rows);
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

// `rows` in as many vectors as there are columns, `each` of them in one.
static void load_columns(HVX_Vector *x, const matrix_t *s, const uint8_t *from,
                         const uint8_t *end, int32_t rows, int32_t each, int32_t width,
                         int32_t bytes, int32_t count) {
    int32_t k = 0;

    if (s->row == width) { // rows are adjacent
        for (; (k + 1) * each <= rows; k++) {
            ember_hvx_store(x + k, ember_hvx_load_any(from + k * EMBER_HVX));
        }
    }
    for (; k * each < rows; k++) {
        const int32_t some = less(rows - k * each, each);
        const uint8_t *at = from + (ptrdiff_t)k * each * s->row;
        ember_hvx_store(x + k, join(at, end, s->row, some, width, bytes));
    }
    for (; k < count; k++) {
        ember_hvx_store(x + k, Q6_V_vzero());
    }
}

// Up to a block of columns.
static void turn_columns(const matrix_t *s, uint8_t *to, const uint8_t *from,
                         const uint8_t *end, int32_t columns) {
    const int32_t places = places_of(columns), count = 1 << places;
    const int32_t width = count * s->size;
    const int32_t each = EMBER_HVX / width, most = EMBER_HVX / s->size;
    HVX_Vector x[BLOCK];

    for (int32_t i = 0; i < s->rows; i += most) {
        const int32_t rows = less(s->rows - i, most);
        load_columns(x, s, from + (ptrdiff_t)i * s->row, end, rows, each, width,
                     columns * s->size, count);
        deal(x, places, s->size);
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

    if (s->size == 1 && s->rows > BLOCK && s->columns > WIDE) {
        turn_wide(s, to, from, end);
    } else if (s->rows <= s->columns) {
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
