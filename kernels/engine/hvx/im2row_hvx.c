// SPDX-License-Identifier: Apache-2.0
// An image becomes the matrix of its windows. Contract: im2row_hvx.h.
#include "kernels/engine/hvx/im2row_hvx.h"

#include <stddef.h>

#include "kernels/engine/hvx/padded_hvx.h"

enum { LANES = EMBER_LANES_HVX, STEP = EMBER_STEP_HVX, TILE = 4 };

static int64_t rounded(int64_t count, int32_t to) {
    return (count + to - 1) / to * to;
}

static int32_t run_of(const ember_im2row_hvx_t *s) {
    return s->width.kernel * s->channels;
}

static int64_t row_bytes(const ember_im2row_hvx_t *s) {
    return ember_reach_s8(&s->width) * s->channels;
}

static int64_t image_bytes(const ember_im2row_hvx_t *s) {
    return ember_reach_s8(&s->height) * row_bytes(s);
}

// --- the plan ------------------------------------------------------------------------

// Vectors for this many filters.
static int64_t vectors_of(int64_t filters) {
    return (filters + LANES - 1) / LANES;
}

// The figures of both are packets, fitted to layers of random sizes
// (tools/sweep calls); they are right within a sixth for nine of ten.

// With rows of windows as cells: `merged` adjacent outputs share a window. Weights of
// padded rows are copied.
static int64_t packets_apart(const ember_im2row_hvx_t *s, int64_t filters,
                             int32_t merged) {
    const int64_t rows = s->height.kernel;
    const int64_t taps = s->width.kernel + (merged - 1) * s->width.stride;
    const int64_t segment = rounded(taps * s->channels, STEP);
    const int64_t lanes = filters * merged;
    const int64_t steps = 5 * vectors_of(lanes) * (segment / STEP);
    const int64_t columns = (s->width.out + merged - 1) / merged;
    const int64_t tiles = columns < TILE / 2 ? 1 : (columns + TILE / 2) / TILE;
    const int64_t line =
        tiles * (rows * (steps + 7) + 7 * vectors_of(lanes)) + 12 * columns + 90;
    const bool filled = merged > 1 || segment != run_of(s);

    return s->batches * (s->height.out * line +
                         ember_reach_s8(&s->height) * (6 * columns + 67)) +
           lanes * rows * ((filled ? 21 : 0) + segment / 9);
}

// With whole windows as cells.
static int64_t packets_together(const ember_im2row_hvx_t *s, int64_t filters) {
    const int64_t rows = s->height.kernel;
    const int64_t cell = rounded(rows * run_of(s), STEP);
    const int64_t windows = (int64_t)s->batches * s->height.out * s->width.out;
    const int64_t tile = vectors_of(filters) * (5 * (cell / STEP) + 21);
    const bool filled = cell != rows * run_of(s);

    return (windows + TILE - 1) / TILE * tile + windows * (5 * rows + 17) +
           s->batches * ember_reach_s8(&s->height) * 40 +
           filters * ((filled ? 32 : 0) + cell / 17) + 300;
}

static bool pays(const ember_im2row_hvx_t *s, int32_t filters, int32_t merged) {
    return packets_together(s, filters) * 8 < packets_apart(s, filters, merged) * 7;
}

// Whether rows of windows are short and adjacent outputs do not fill them.
static bool is_short(const ember_conv_s8_t *conv) {
    return conv->channels % STEP != 0 && conv->height.kernel > 1 &&
           conv->width.dilation == 1 &&
           (int64_t)conv->width.kernel * conv->channels <= EMBER_HVX;
}

void ember_im2row_hvx_plan(ember_im2row_hvx_t *s, const ember_conv_s8_t *conv,
                           int32_t merged, int32_t most) {
    s->cell = 0;
    if (!is_short(conv)) {
        return;
    }
    *s = (ember_im2row_hvx_t){
        .channels = conv->channels,
        .batches = conv->batches,
        .height = conv->height,
        .width = conv->width,
        .padding = (int8_t)-conv->x_offset,
    };
    const int64_t cell = rounded((int64_t)conv->height.kernel * run_of(s), STEP);
    const int64_t lines = (int64_t)conv->batches * conv->height.out;
    if (lines * conv->width.out < most / cell && image_bytes(s) < most &&
        pays(s, conv->filters, merged)) {
        s->cell = (int32_t)cell;
    }
}

int32_t ember_im2row_hvx_windows(const ember_im2row_hvx_t *s) {
    return s->batches * s->height.out * s->width.out;
}

// A vector is stored from the last byte on.
int64_t ember_im2row_hvx_bytes(const ember_im2row_hvx_t *s) {
    return (int64_t)ember_im2row_hvx_windows(s) * s->cell + EMBER_HVX;
}

int64_t ember_im2row_hvx_room_bytes(const ember_im2row_hvx_t *s) {
    return image_bytes(s) + 2 * EMBER_HVX;
}

// --- the windows ---------------------------------------------------------------------

// An image with its padding.
static void pad(const ember_im2row_hvx_t *s, const int8_t *x, int8_t *to) {
    const int64_t rows = ember_reach_s8(&s->height);
    const int64_t pitch = (int64_t)s->width.in * s->channels;

    for (int64_t i = 0; i < rows; i++) {
        const int64_t y = i - s->height.padding;
        const bool inside = y >= 0 && y < s->height.in;
        ember_padded_row_hvx(&s->width, s->channels, s->padding,
                             inside ? x + y * pitch : NULL, to);
        to += row_bytes(s);
    }
}

// The rows of the windows of an image, `pitch` bytes from a row of a window to the
// next.
static int8_t *make_rows(const ember_im2row_hvx_t *s, const int8_t *padded, int8_t *to,
                         int64_t pitch) {
    const int32_t run = run_of(s), rows = s->height.kernel;
    const int32_t gap = s->cell - rows * run;
    const ptrdiff_t step = (ptrdiff_t)s->width.stride * s->channels;
    const int64_t down = s->height.stride * row_bytes(s);

    for (int32_t y = 0; y < s->height.out; y++) {
        const int8_t *window = padded + y * down;
        for (int32_t x = 0; x < s->width.out; x++) {
            const int8_t *from = window;
            for (int32_t i = 0; i < rows; i++) {
                ember_hvx_store_any(to, ember_hvx_load_any(from));
                from += pitch;
                to += run;
            }
            to = ember_fill_hvx(to, Q6_V_vzero(), gap);
            window += step;
        }
    }
    return to;
}

void ember_im2row_hvx_make(const ember_im2row_hvx_t *s, const int8_t *x, int8_t *to,
                           int8_t *room) {
    const ptrdiff_t image = (ptrdiff_t)s->height.in * s->width.in * s->channels;
    const int64_t pitch = s->height.dilation * row_bytes(s);

    for (int32_t n = 0; n < s->batches; n++) {
        pad(s, x, room);
        to = make_rows(s, room, to, pitch);
        x += image;
    }
}
