// SPDX-License-Identifier: Apache-2.0
// An image becomes cells, and their sums. Contract: cells_hvx.h.
#include "kernels/engine/hvx/cells_hvx.h"

#include <stddef.h>

#include "kernels/engine/hvx/padded_hvx.h"

enum { LANES = EMBER_LANES_HVX, WORD = 4 };
enum { BLOCK = 32 * EMBER_HVX }; // room of the vectors that become 32 sums

static int32_t rounded(int32_t count, int32_t to) {
    return (count + to - 1) / to * to;
}

// Whether the image has pixel behind pixel what windows take of it.
static bool is_dense(const ember_cells_hvx_t *s) {
    return s->pixel == s->channels && s->rows_apart == 1 && s->columns_apart == 1;
}

bool ember_cells_hvx_plan(ember_cells_hvx_t *s, int32_t most) {
    const ember_conv_s8_axis_t *h = &s->height, *w = &s->width;
    const int32_t run = w->kernel * s->channels;

    s->expanded =
        s->channels % EMBER_STEP_HVX != 0 || (w->dilation != 1 && w->kernel != 1);
    s->cell = s->expanded ? rounded(run, EMBER_STEP_HVX) : s->channels;
    s->window = s->expanded ? 1 : w->kernel;
    s->step = s->expanded ? 1 : w->stride;
    s->columns = (w->out - 1) * s->step + s->window;
    s->rows = (h->out - 1) * h->stride + (h->kernel - 1) * h->dilation + 1;
    s->direct = !s->expanded && !s->copied && is_dense(s) && w->padding == 0 &&
                h->padding == 0 && s->columns <= w->in && s->rows <= h->in;
    if (s->direct) { // rows lie as those of the image
        s->rows = h->in;
        s->columns = w->in;
    }
    s->sums_row = rounded((w->out - 1) * s->step + 1, LANES);
    const int64_t cells = (int64_t)s->rows * s->columns;
    return cells < most && cells * s->cell < most &&
           cells * s->cell * s->batches < most;
}

static int64_t row_bytes(const ember_cells_hvx_t *s) {
    return (int64_t)s->columns * s->cell;
}

// Elements of a row of the image with its padding, as windows need it.
static int64_t padded_bytes(const ember_cells_hvx_t *s) {
    return ember_reach_s8(&s->width) * s->channels;
}

int64_t ember_cells_hvx_image_bytes(const ember_cells_hvx_t *s) {
    return s->direct ? 0 : s->batches * s->rows * row_bytes(s) + 2 * EMBER_HVX;
}

int64_t ember_cells_hvx_sums_bytes(const ember_cells_hvx_t *s) {
    return (int64_t)s->batches * s->height.out * s->sums_row * WORD;
}

int64_t ember_cells_hvx_room_bytes(const ember_cells_hvx_t *s) {
    const int64_t cells = (int64_t)s->batches * s->rows * s->columns;
    const int64_t past = s->sums_row + s->window + LANES; // may be read, for nothing
    const int64_t sums = BLOCK + (cells + past) * WORD;
    const int64_t padded = padded_bytes(s) + 2 * EMBER_HVX;
    return sums > padded ? sums : padded;
}

// --- the image -----------------------------------------------------------------------

// Copies a pixel, and no byte more.
static void put_pixel(int8_t *to, const int8_t *from, int32_t count) {
    for (; count > 0; count -= EMBER_HVX, to += EMBER_HVX, from += EMBER_HVX) {
        ember_store_left_hvx(to, ember_load_left_hvx(from, count), count);
    }
}

// A row of the image whose pixels lie, or are to stand, apart.
static void make_apart(const ember_cells_hvx_t *s, const int8_t *x, int8_t *to) {
    const ember_conv_s8_axis_t *w = &s->width;
    const int64_t all = padded_bytes(s);
    const int64_t step = (int64_t)s->columns_apart * s->channels;
    int64_t at = (int64_t)w->padding * s->channels;

    ember_fill_hvx(to, Q6_Vb_vsplat_R(s->padding), all);
    for (int32_t i = 0; x != NULL && i < w->in && at < all; i++, at += step) {
        put_pixel(to + at, x, s->channels);
        x += s->pixel;
    }
}

// Rows of windows that are a run of up to a vector each, filled up with zeros.
static void make_short(const ember_cells_hvx_t *s, const int8_t *from, int8_t *to,
                       int32_t run) {
    const int32_t step = s->width.stride * s->channels;
    const HVX_Vector ones = Q6_V_vsplat_R(-1);
    const HVX_Vector on =
        run < EMBER_HVX ? Q6_V_vand_QV(Q6_Q_vsetq_R(run), ones) : ones;

    for (int32_t i = 0; i < s->columns; i++) {
        ember_hvx_store_any(to, Q6_V_vand_VV(ember_hvx_load_any(from), on));
        from += step;
        to += s->cell;
    }
}

// Rows of windows of any kind.
static void make_long(const ember_cells_hvx_t *s, const int8_t *padded, int8_t *to) {
    const ember_conv_s8_axis_t *w = &s->width;
    const int32_t gap = s->cell - w->kernel * s->channels;

    for (int32_t i = 0; i < s->columns; i++) {
        const int8_t *from = padded + (ptrdiff_t)i * w->stride * s->channels;
        for (int32_t n = 0; n < w->kernel; n++) {
            for (int32_t at = 0; at < s->channels; at += EMBER_HVX) {
                ember_hvx_store_any(to + at, ember_hvx_load_any(from + at));
            }
            to += s->channels;
            from += (ptrdiff_t)w->dilation * s->channels;
        }
        to = ember_fill_hvx(to, Q6_V_vzero(), gap);
    }
}

static void make_expanded(const ember_cells_hvx_t *s, const int8_t *padded,
                          int8_t *to) {
    const int32_t run = s->width.kernel * s->channels;

    if (run <= EMBER_HVX && (s->width.dilation == 1 || s->width.kernel == 1)) {
        make_short(s, padded, to, run);
    } else {
        make_long(s, padded, to);
    }
}

// The row of the image that is row `y` of one whose rows stand apart, or NULL.
static const int8_t *row_apart(const ember_cells_hvx_t *s, const int8_t *x, int32_t y) {
    const int32_t row = y >= 0 && s->rows_apart != 1 ? y / s->rows_apart : y;
    const bool there = row >= 0 && row * s->rows_apart == y && row < s->height.in;
    return there ? x + (ptrdiff_t)row * s->width.in * s->pixel : NULL;
}

static void make_all_apart(const ember_cells_hvx_t *s, const int8_t *x, int8_t *to,
                           int8_t *room) {
    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t i = 0; i < s->rows; i++) {
            const int8_t *from = row_apart(s, x, i - s->height.padding);
            make_apart(s, from, s->expanded ? room : to);
            if (s->expanded) {
                make_expanded(s, room, to);
            }
            to += row_bytes(s);
        }
        x += (ptrdiff_t)s->height.in * s->width.in * s->pixel;
    }
}

const int8_t *ember_cells_hvx_make(const ember_cells_hvx_t *s, const int8_t *x,
                                   int8_t *image, int8_t *room) {
    const ptrdiff_t pitch = (ptrdiff_t)s->width.in * s->channels;
    int8_t *to = image;

    if (s->direct) {
        return x;
    }
    if (!is_dense(s)) {
        make_all_apart(s, x, image, room);
        return image;
    }
    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t i = 0; i < s->rows; i++) {
            const int32_t y = i - s->height.padding;
            const int8_t *from = y < 0 || y >= s->height.in ? NULL : x + y * pitch;
            ember_padded_row_hvx(&s->width, s->channels, s->padding, from,
                                 s->expanded ? room : to);
            if (s->expanded) {
                make_expanded(s, room, to);
            }
            to += row_bytes(s);
        }
        x += s->height.in * pitch;
    }
    return image;
}

// --- sums ----------------------------------------------------------------------------

// The sums of four elements each of four vectors become one of sums of sixteen.
INLINE HVX_Vector sum_four(const int8_t *x) {
    const HVX_Vector ones = Q6_Vb_vsplat_R(1);
    HVX_Vector sums[4];

    EMBER_HVX_UNROLL
    for (int i = 0; i < 4; i++) {
        const HVX_Vector some = ember_hvx_load_any(x + i * EMBER_HVX);
        sums[i] = Q6_Vw_vrmpyacc_VwVbVb(Q6_V_vzero(), some, ones);
    }
    return ember_neighbours_hvx(ember_neighbours_hvx(sums[0], sums[1]),
                                ember_neighbours_hvx(sums[2], sums[3]));
}

INLINE HVX_Vector sum_two(const int8_t *x) {
    const HVX_Vector ones = Q6_Vb_vsplat_R(1);
    const HVX_Vector zero = Q6_V_vzero();
    return ember_neighbours_hvx(
        Q6_Vw_vrmpyacc_VwVbVb(zero, ember_hvx_load_any(x), ones),
        Q6_Vw_vrmpyacc_VwVbVb(zero, ember_hvx_load_any(x + EMBER_HVX), ones));
}

// Sums of 32 cells whose elements are a power of two from 8 to a vector's.
static HVX_Vector sum_whole(HVX_Vector *block, const int8_t *x, int32_t cell) {
    const int32_t vectors = cell / (4 * WORD);

    if (cell == EMBER_STEP_HVX) {
        return sum_two(x);
    }
    for (int32_t i = 0; i < vectors; i++) {
        ember_hvx_store(block + i, sum_four(x + i * 4 * EMBER_HVX));
    }
    return ember_reduced_hvx(block, vectors);
}

// Four vectors become one of sums of four neighbouring words each.
INLINE HVX_Vector sum_of_four(const HVX_Vector *x) {
    return ember_neighbours_hvx(
        ember_neighbours_hvx(ember_hvx_load(x), ember_hvx_load(x + 1)),
        ember_neighbours_hvx(ember_hvx_load(x + 2), ember_hvx_load(x + 3)));
}

// The sums of the words of each of `count` vectors, up to 32. Clobbers the block; of
// what is left over in it, nothing is used.
static HVX_Vector reduced(HVX_Vector *block, int32_t count) {
    const int32_t fours = (count + 3) / 4;

    for (int32_t i = 0; i < count; i += 4) {
        ember_hvx_store(block + i / 4, sum_of_four(block + i));
    }
    const HVX_Vector low = sum_of_four(block);
    return ember_neighbours_hvx(low, fours > 4 ? sum_of_four(block + 4) : low);
}

// Sums of `cells` cells of any size, up to 32; x ends at `end`.
static HVX_Vector sum_some(HVX_Vector *block, const int8_t *x, int32_t cell,
                           int32_t cells, const int8_t *end) {
    const HVX_Vector ones = Q6_Vb_vsplat_R(1);
    const int32_t whole = cell & -EMBER_HVX;
    const int32_t rest = cell - whole;
    const HVX_Vector last = Q6_V_vand_QV(Q6_Q_vsetq_R(rest), ones);
    HVX_Vector *to = block;

    if (whole == 0 && end - x >= (ptrdiff_t)(cells - 1) * cell + EMBER_HVX) {
        EMBER_HVX_ROLLED
        for (int32_t i = cells; i > 0; i--) {
            const HVX_Vector part = ember_hvx_load_any(x);
            ember_hvx_store(to++, Q6_Vw_vrmpyacc_VwVbVb(Q6_V_vzero(), part, last));
            x += cell;
        }
        return reduced(block, cells);
    }
    EMBER_HVX_ROLLED
    for (int32_t i = cells; i > 0; i--) {
        HVX_Vector sum = Q6_V_vzero();
        EMBER_HVX_ROLLED
        for (int32_t left = whole; left > 0; left -= EMBER_HVX) {
            sum = Q6_Vw_vrmpyacc_VwVbVb(sum, ember_hvx_load_any(x), ones);
            x += EMBER_HVX;
        }
        if (rest > 0) {
            const HVX_Vector part = end - x >= EMBER_HVX ? ember_hvx_load_any(x)
                                                         : ember_hvx_load_part(x, rest);
            sum = Q6_Vw_vrmpyacc_VwVbVb(sum, part, last);
            x += rest;
        }
        ember_hvx_store(to++, sum);
    }
    return reduced(block, cells);
}

static void sum_cells(int32_t *sums, const int8_t *x, int32_t cells, int32_t cell,
                      HVX_Vector *block) {
    const bool even = cell <= EMBER_HVX && (cell & (cell - 1)) == 0;
    const int8_t *end = x + (ptrdiff_t)cells * cell;

    for (int32_t i = 0; i < cells; i += LANES) {
        const int32_t some = cells - i < LANES ? cells - i : LANES;
        const HVX_Vector made = even && some == LANES
                                    ? sum_whole(block, x, cell)
                                    : sum_some(block, x, cell, some, end);
        ember_hvx_store(sums + i, made);
        x += (ptrdiff_t)LANES * cell;
    }
}

// Adds up the cells of each window of a row.
static void add_windows(const ember_cells_hvx_t *s, int32_t *to, const int32_t *from,
                        int32_t factor) {
    const int32_t pair = (int32_t)((uint32_t)factor << 16 | (uint16_t)factor);
    const ptrdiff_t pitch = (ptrdiff_t)s->height.dilation * s->columns;

    for (int32_t i = 0; i < s->sums_row; i += LANES) {
        const int32_t *row = from + i;
        HVX_Vector sum = Q6_V_vzero();
        for (int32_t y = 0; y < s->height.kernel; y++) {
            for (int32_t x = 0; x < s->window; x++) {
                sum = Q6_Vw_vadd_VwVw(sum, ember_hvx_load_any(row + x));
            }
            row += pitch;
        }
        ember_hvx_store(to + i, Q6_Vw_vmpyi_VwRh(sum, pair));
    }
}

void ember_cells_hvx_sum(const ember_cells_hvx_t *s, const int8_t *made, int32_t factor,
                         int32_t *sums, int8_t *room) {
    HVX_Vector *block = (HVX_Vector *)(void *)room;
    int32_t *cells = (int32_t *)(void *)(room + BLOCK);
    const int32_t all = s->rows * s->columns;

    sum_cells(cells, made, s->batches * all, s->cell, block);
    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t y = 0; y < s->height.out; y++) {
            const ptrdiff_t row = (ptrdiff_t)y * s->height.stride * s->columns;
            add_windows(s, sums, cells + row, factor);
            sums += s->sums_row;
        }
        cells += all;
    }
}
