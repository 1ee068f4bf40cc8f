// SPDX-License-Identifier: Apache-2.0
// An image becomes cells, and their sums. Contract: cells_hvx.h.
#include "kernels/cortex_m/cells_hvx.h"

#include <stddef.h>

enum { LANES = EMBER_LANES_HVX, WORD = 4 };
enum { ONES = 0x01010101 };
enum { BLOCK = 32 * EMBER_HVX }; // room of the vectors that become 32 sums

static int32_t rounded(int32_t count, int32_t to) {
    return (count + to - 1) / to * to;
}

bool ember_cells_hvx_plan(ember_cells_hvx_t *s, int32_t most) {
    const ember_conv_s8_axis_t *h = &s->height, *w = &s->width;
    const int32_t run = w->kernel * s->channels;

    s->expanded = s->channels % EMBER_STEP_HVX != 0 ||
                  (w->dilation != 1 && w->kernel != 1);
    s->cell = s->expanded ? rounded(run, EMBER_STEP_HVX) : s->channels;
    s->window = s->expanded ? 1 : w->kernel;
    s->step = s->expanded ? 1 : w->stride;
    s->columns = (w->out - 1) * s->step + s->window;
    s->rows = (h->out - 1) * h->stride + (h->kernel - 1) * h->dilation + 1;
    s->direct = !s->expanded && w->padding == 0 && h->padding == 0 &&
                s->columns <= w->in && s->rows <= h->in;
    if (s->direct) { // rows lie as those of the image
        s->rows = h->in;
        s->columns = w->in;
    }
    s->sums_row = rounded(s->columns, LANES) + rounded(s->window - 1, LANES);
    const int64_t cells = (int64_t)s->rows * s->columns;
    return cells < most && cells * s->cell < most &&
           cells * s->cell * s->batches < most;
}

static int64_t row_bytes(const ember_cells_hvx_t *s) {
    return (int64_t)s->columns * s->cell;
}

// Elements of a row of the image with its padding, as windows need it.
static int64_t padded_bytes(const ember_cells_hvx_t *s) {
    const ember_conv_s8_axis_t *w = &s->width;
    const int64_t reach = (int64_t)(w->kernel - 1) * w->dilation + 1;
    return ((int64_t)(w->out - 1) * w->stride + reach) * s->channels;
}

int64_t ember_cells_hvx_image_bytes(const ember_cells_hvx_t *s) {
    return s->direct ? 0 : s->batches * s->rows * row_bytes(s) + 2 * EMBER_HVX;
}

int64_t ember_cells_hvx_sums_bytes(const ember_cells_hvx_t *s) {
    return (int64_t)s->batches * s->height.out * s->sums_row * WORD;
}

int64_t ember_cells_hvx_room_bytes(const ember_cells_hvx_t *s) {
    const int64_t row = (int64_t)s->sums_row * WORD;
    const int64_t sums = BLOCK + (s->rows + 1) * row;
    const int64_t padded = padded_bytes(s) + 2 * EMBER_HVX;
    return sums > padded ? sums : padded;
}

// --- the image -----------------------------------------------------------------------

// Bytes behind the last, up to a vector, are clobbered.
static int8_t *fill(int8_t *to, HVX_Vector with, int64_t count) {
    for (int64_t i = 0; i < count; i += EMBER_HVX) {
        ember_hvx_store_any(to + i, with);
    }
    return to + count;
}

// The same; from is read to `count`.
static int8_t *copy(int8_t *to, const int8_t *from, int64_t count) {
    int64_t i = 0;
    for (; i + EMBER_HVX <= count; i += EMBER_HVX) {
        ember_hvx_store_any(to + i, ember_hvx_load_any(from + i));
    }
    if (i < count) {
        ember_hvx_store_any(to + i, ember_hvx_load_part(from + i, (int32_t)(count - i)));
    }
    return to + count;
}

// A row of the image between its padding.
static void make_padded(const ember_cells_hvx_t *s, const int8_t *x, int8_t *to) {
    const ember_conv_s8_axis_t *w = &s->width;
    const HVX_Vector with = Q6_Vb_vsplat_R(s->padding);
    const int64_t all = padded_bytes(s);
    const int64_t before = (int64_t)w->padding * s->channels;
    const int64_t in = (int64_t)w->in * s->channels;

    if (x == NULL || before >= all) {
        fill(to, with, all);
        return;
    }
    const int64_t inside = in < all - before ? in : all - before;
    to = copy(fill(to, with, before), x, inside);
    fill(to, with, all - before - inside);
}

// Rows of windows, one after the other, filled up with zeros.
static void make_expanded(const ember_cells_hvx_t *s, const int8_t *padded,
                          int8_t *to) {
    const ember_conv_s8_axis_t *w = &s->width;
    const HVX_Vector zero = Q6_V_vzero();
    const int32_t run = w->dilation == 1 ? w->kernel * s->channels : s->channels;
    const int32_t runs = w->dilation == 1 ? 1 : w->kernel;
    const int32_t gap = s->cell - w->kernel * s->channels;

    for (int32_t i = 0; i < s->columns; i++) {
        const int8_t *from = padded + (ptrdiff_t)i * w->stride * s->channels;
        for (int32_t n = 0; n < runs; n++) {
            for (int32_t at = 0; at < run; at += EMBER_HVX) {
                ember_hvx_store_any(to + at, ember_hvx_load_any(from + at));
            }
            to += run;
            from += (ptrdiff_t)w->dilation * s->channels;
        }
        if (gap > 0) {
            ember_hvx_store_any(to, zero);
            to += gap;
        }
    }
}

const int8_t *ember_cells_hvx_make(const ember_cells_hvx_t *s, int8_t *image,
                                   int8_t *room) {
    const ptrdiff_t pitch = (ptrdiff_t)s->width.in * s->channels;
    const int8_t *x = s->x;
    int8_t *to = image;

    if (s->direct) {
        return s->x;
    }
    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t i = 0; i < s->rows; i++) {
            const int32_t y = i - s->height.padding;
            const int8_t *from = y < 0 || y >= s->height.in ? NULL : x + y * pitch;
            make_padded(s, from, s->expanded ? room : to);
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

// Halves the vectors: each word becomes the sum of two neighbours.
INLINE void add_neighbours(HVX_Vector *block, int32_t vectors) {
    for (int32_t i = 0; i < vectors; i += 2) {
        const HVX_VectorPair words = Q6_W_vdeal_VVR(ember_hvx_load(block + i + 1),
                                                    ember_hvx_load(block + i), -WORD);
        ember_hvx_store(block + i / 2,
                        Q6_Vw_vadd_VwVw(Q6_V_lo_W(words), Q6_V_hi_W(words)));
    }
}

// Vectors of `words` words for each of 32 cells become a vector of sums.
static HVX_Vector reduce(HVX_Vector *block, int32_t words) {
    for (int32_t vectors = words; vectors > 1; vectors /= 2) {
        add_neighbours(block, vectors);
    }
    return ember_hvx_load(block);
}

// Sums of 32 cells, or of the `count` bytes that there are of them, whose bytes are a
// power of two up to a vector's.
static HVX_Vector sum_small(HVX_Vector *block, const int8_t *x, int32_t cell,
                            int32_t count) {
    const HVX_Vector ones = Q6_Vb_vsplat_R(1);
    const HVX_Vector zero = Q6_V_vzero();
    const int32_t words = cell / WORD;

    for (int32_t i = 0; i < words; i++) {
        const int32_t left = count - i * EMBER_HVX;
        HVX_Vector sum = zero;
        if (left >= EMBER_HVX) {
            sum = Q6_Vw_vrmpyacc_VwVbVb(zero, ember_hvx_load_any(x), ones);
        } else if (left > 0) {
            sum = Q6_Vw_vrmpyacc_VwVbVb(zero, ember_hvx_load_part(x, left), ones);
        }
        ember_hvx_store(block + i, sum);
        x += EMBER_HVX;
    }
    return reduce(block, words);
}

// The same of cells of any size.
static HVX_Vector sum_large(HVX_Vector *block, const int8_t *x, int32_t cell,
                            int32_t count) {
    const HVX_Vector ones = Q6_Vb_vsplat_R(1);
    const int32_t whole = cell & -EMBER_HVX;
    const int32_t rest = cell - whole;
    const HVX_Vector last = Q6_V_vand_QV(Q6_Q_vsetq_R(rest), ones);

    for (int32_t i = 0; i < LANES; i++) {
        HVX_Vector sum = Q6_V_vzero();
        if (i * cell < count) {
            for (int32_t at = 0; at < whole; at += EMBER_HVX) {
                sum = Q6_Vw_vrmpyacc_VwVbVb(sum, ember_hvx_load_any(x + at), ones);
            }
            if (rest > 0) {
                const HVX_Vector part = ember_hvx_load_part(x + whole, rest);
                sum = Q6_Vw_vrmpyacc_VwVbVb(sum, part, last);
            }
        }
        ember_hvx_store(block + i, sum);
        x += cell;
    }
    return reduce(block, LANES);
}

static void sum_cells(int32_t *sums, const int8_t *x, int32_t cells, int32_t cell,
                      HVX_Vector *block) {
    const bool small = cell <= EMBER_HVX && (cell & (cell - 1)) == 0;

    for (int32_t i = 0; i < cells; i += LANES) {
        const int32_t some = cells - i < LANES ? cells - i : LANES;
        const HVX_Vector made = small ? sum_small(block, x, cell, some * cell)
                                      : sum_large(block, x, cell, some * cell);
        ember_hvx_store(sums + i, made);
        x += (ptrdiff_t)LANES * cell;
    }
}

// Adds up the rows of a window; rows are `pitch` words apart.
static void add_rows(int32_t *to, const int32_t *from, int32_t count, int32_t rows,
                     ptrdiff_t pitch) {
    for (int32_t i = 0; i < count; i += LANES) {
        HVX_Vector sum = ember_hvx_load(from + i);
        for (int32_t n = 1; n < rows; n++) {
            sum = Q6_Vw_vadd_VwVw(sum, ember_hvx_load(from + i + n * pitch));
        }
        ember_hvx_store(to + i, sum);
    }
}

// Adds up `window` neighbours and multiplies.
static void add_columns(int32_t *to, const int32_t *from, int32_t count, int32_t window,
                        int32_t factor) {
    const int32_t pair = (int32_t)((uint32_t)factor << 16 | (uint16_t)factor);

    for (int32_t i = 0; i < count; i += LANES) {
        HVX_Vector sum = ember_hvx_load(from + i);
        for (int32_t n = 1; n < window; n++) {
            sum = Q6_Vw_vadd_VwVw(sum, ember_hvx_load_any(from + i + n));
        }
        ember_hvx_store(to + i, Q6_Vw_vmpyi_VwRh(sum, pair));
    }
}

void ember_cells_hvx_sum(const ember_cells_hvx_t *s, const int8_t *made, int32_t factor,
                         int32_t *sums, int8_t *room) {
    HVX_Vector *block = (HVX_Vector *)(void *)room;
    int32_t *line = (int32_t *)(void *)(room + BLOCK);
    int32_t *cells = line + s->sums_row;
    const int32_t count = rounded(s->columns, LANES);
    const ptrdiff_t pitch = s->sums_row;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t i = 0; i < s->rows; i++) {
            sum_cells(cells + i * pitch, made, s->columns, s->cell, block);
            made += row_bytes(s);
        }
        for (int32_t y = 0; y < s->height.out; y++) {
            const int32_t *first = cells + y * s->height.stride * pitch;
            add_rows(line, first, count, s->height.kernel, s->height.dilation * pitch);
            add_columns(sums, line, count, s->window, factor);
            sums += pitch;
        }
    }
}
