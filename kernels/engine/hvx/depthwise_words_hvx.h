// SPDX-License-Identifier: Apache-2.0
// Part of depthwise_hvx.c: four rows of the image become words of their elements side
// by side, with padding before and behind.
#ifndef EMBER_KERNELS_ENGINE_HVX_DEPTHWISE_WORDS_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_DEPTHWISE_WORDS_HVX_H

#include <stddef.h>

#include "kernels/engine/hvx/depthwise_hvx.h"
#include "kernels/engine/hvx/padded_hvx.h"

enum { WORD = 4, FOUR = 4, WORDS = FOUR * EMBER_HVX }; // bytes of 128 words
enum { TWO = 2 };

// Words of elements i of a, b, c and d, in order.
INLINE void interleave(HVX_Vector a, HVX_Vector b, HVX_Vector c, HVX_Vector d,
                       int8_t *words) {
    const HVX_VectorPair first = Q6_W_vshuff_VVR(b, a, -1);
    const HVX_VectorPair second = Q6_W_vshuff_VVR(d, c, -1);
    const HVX_VectorPair low = Q6_W_vshuff_VVR(Q6_V_lo_W(second), Q6_V_lo_W(first), -2);
    const HVX_VectorPair high =
        Q6_W_vshuff_VVR(Q6_V_hi_W(second), Q6_V_hi_W(first), -2);
    ember_hvx_store_any(words, Q6_V_lo_W(low));
    ember_hvx_store_any(words + EMBER_HVX, Q6_V_hi_W(low));
    ember_hvx_store_any(words + 2 * EMBER_HVX, Q6_V_lo_W(high));
    ember_hvx_store_any(words + 3 * EMBER_HVX, Q6_V_hi_W(high));
}

// Up to a vector of words behind the last is clobbered.
static void interleave_rows(const int8_t *const *rows, int32_t count, int8_t *words) {
    const int8_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
    const int32_t rest = count % EMBER_HVX;

    for (int32_t i = count / EMBER_HVX; i > 0; i--) {
        interleave(ember_hvx_load_any(a), ember_hvx_load_any(b), ember_hvx_load_any(c),
                   ember_hvx_load_any(d), words);
        a += EMBER_HVX;
        b += EMBER_HVX;
        c += EMBER_HVX;
        d += EMBER_HVX;
        words += WORDS;
    }
    if (rest > 0) {
        interleave(ember_hvx_load_part(a, rest), ember_hvx_load_part(b, rest),
                   ember_hvx_load_part(c, rest), ember_hvx_load_part(d, rest), words);
    }
}

// --- the image -----------------------------------------------------------------------

// `count` pixels of the image that are `step` bytes apart, side by side. Bytes behind
// the last, up to a vector, are clobbered.
static int8_t *copy(int8_t *to, const int8_t *x, int32_t pixel, int32_t step,
                    int32_t count, const int8_t *end) {
    const ptrdiff_t all = (ptrdiff_t)count * step;
    const ptrdiff_t near = end - x - (EMBER_HVX - 1); // whole vectors start before it
    const ptrdiff_t whole = pixel > EMBER_HVX ? 0 : near < all ? near : all;
    ptrdiff_t at = 0;

    for (; at < whole; at += step) {
        ember_hvx_store_any(to, ember_hvx_load_any(x + at));
        to += pixel;
    }
    for (; at < all; at += step) {
        for (int32_t i = 0; i < pixel; i += EMBER_HVX) {
            const ptrdiff_t left = end - x - at - i;
            const HVX_Vector some = ember_load_left_hvx(
                x + at + i, left < EMBER_HVX ? (int32_t)left : EMBER_HVX);
            ember_hvx_store_any(to + i, some);
        }
        to += pixel;
    }
    return to;
}

// The same of every second pixel, where pixels are a power of two up to half a vector.
static int8_t *copy_second(int8_t *to, const int8_t *x, int32_t pixel, int32_t count,
                           const int8_t *end) {
    const int32_t bytes = count * pixel;

    for (int32_t at = 0; at < bytes; at += EMBER_HVX) {
        const ptrdiff_t left = end - x;
        const int32_t some = left < TWO * EMBER_HVX ? (int32_t)left : TWO * EMBER_HVX;
        const HVX_Vector low = ember_load_left_hvx(x, some);
        const HVX_Vector high =
            some > EMBER_HVX ? ember_load_left_hvx(x + EMBER_HVX, some - EMBER_HVX)
                             : low;
        ember_hvx_store_any(to + at, Q6_V_lo_W(Q6_W_vdeal_VVR(high, low, -pixel)));
        x += TWO * EMBER_HVX;
    }
    return to + bytes;
}

// Columns before one of an axis that each part has: `count`, and one less from part
// `part` on.
typedef struct columns_before {
    int32_t count;
    int32_t part;
} columns_before_t;

static columns_before_t columns_before(int32_t column, int32_t stride) {
    const int32_t count = (column + stride - 1) / stride;
    return (columns_before_t){count, column - (count - 1) * stride};
}

// What is the same in all rows of the image.
typedef struct sides {
    columns_before_t image; // before the image
    columns_before_t end;   // and its end
    HVX_Vector padding;
} sides_t;

static int32_t limited(int32_t value, int32_t most) {
    value = value < 0 ? 0 : value;
    return value > most ? most : value;
}

static int32_t columns_of(columns_before_t before, int32_t part, int32_t most) {
    return limited(before.count - (part >= before.part ? 1 : 0), most);
}

// A row of the image to the parts of a row: of each `stride`-th column, from `first`
// on, with padding before and behind.
static int8_t *set_part(const ember_depthwise_hvx_t *s, const sides_t *sides,
                        const int8_t *x, int32_t first, int8_t *to) {
    const ember_conv_s8_axis_t *w = &s->conv.width;
    const int32_t channels = s->conv.channels;
    const int32_t stride = w->stride;
    const int8_t *end = x + (ptrdiff_t)w->in * channels;
    // Columns of the part are at first - padding + i * stride in the image.
    const int32_t before = columns_of(sides->image, first, s->columns);
    const int32_t past = columns_of(sides->end, first, s->columns);
    const int32_t count = past > before ? past - before : 0;
    const int32_t at = before * stride + first - w->padding;
    const bool is_even = stride == TWO && TWO * channels <= EMBER_HVX &&
                         (channels & (channels - 1)) == 0;

    to = ember_fill_hvx(to, sides->padding, before * channels);
    x += (ptrdiff_t)at * channels;
    to = is_even ? copy_second(to, x, channels, count, end)
                 : copy(to, x, channels, stride * channels, count, end);
    return ember_fill_hvx(to, sides->padding, (s->columns - before - count) * channels);
}

static void set_row(const ember_depthwise_hvx_t *s, const sides_t *sides,
                    const int8_t *x, int8_t *to) {
    if (x == NULL) {
        (void)ember_fill_hvx(to, sides->padding, s->pitch);
        return;
    }
    for (int32_t first = 0; first < s->conv.width.stride; first++) {
        to = set_part(s, sides, x, first, to);
    }
}

// The rows of an image; with a stride of 1, which reads them where they are, only one
// of what stands around it.
static void set_image(const ember_depthwise_hvx_t *s, const sides_t *sides,
                      const int8_t *x, int8_t *to) {
    const ember_conv_s8_axis_t *h = &s->conv.height;
    const ptrdiff_t pitch = (ptrdiff_t)s->conv.width.in * s->conv.channels;

    if (s->conv.width.stride == 1) {
        set_row(s, sides, NULL, to);
        return;
    }
    for (int32_t i = 0; i < s->rows; i++) {
        const int32_t y = i - h->padding;
        set_row(s, sides, y < 0 || y >= h->in ? NULL : x + y * pitch, to);
        to += s->pitch;
    }
}

// --- words ---------------------------------------------------------------------------

// The row of the image that tap `tap` of row `y` of outputs sees.
static const int8_t *row_at(const ember_depthwise_hvx_t *s, const int8_t *x,
                            const int8_t *image, int32_t y, int32_t tap) {
    const ember_conv_s8_axis_t *h = &s->conv.height;
    const int32_t most = h->kernel + s->sharing - 2;
    const int32_t last = tap < most ? tap : most;
    const int32_t row = y * h->stride + last * h->dilation;
    const int32_t inside = row - h->padding;

    if (s->conv.width.stride != 1) {
        return image + (ptrdiff_t)row * s->pitch;
    }
    if (inside < 0 || inside >= h->in) {
        return image;
    }
    return x + (ptrdiff_t)inside * s->conv.width.in * s->conv.channels;
}

// Words of the rows that row `y` of outputs, or `sharing` of them, see, with padding
// before and behind.
static void set_words(const ember_depthwise_hvx_t *s, const int8_t *x,
                      const int8_t *image, int32_t y, int8_t *words) {
    const ember_conv_s8_axis_t *w = &s->conv.width;
    const HVX_Vector with = Q6_Vb_vsplat_R(-s->conv.x_offset);
    const bool is_direct = w->stride == 1;
    const int32_t start = is_direct ? limited(w->padding, s->columns) : 0;
    const int32_t room = s->columns - start;
    const int32_t columns = w->in < room ? w->in : room;
    const int32_t before = start * s->conv.channels;
    const int32_t count = is_direct ? columns * s->conv.channels : s->pitch;

    for (int32_t group = 0; group < s->groups; group++) {
        const int8_t *rows[FOUR];
        for (int32_t i = 0; i < FOUR; i++) {
            rows[i] = row_at(s, x, image, y, group * FOUR + i);
        }
        int8_t *to = ember_fill_hvx(words, with, before * WORD);
        interleave_rows(rows, count, to);
        (void)ember_fill_hvx(to + count * WORD, with,
                             (s->pitch - before - count) * WORD);
        words += s->pitch * WORD;
    }
}

#endif // EMBER_KERNELS_ENGINE_HVX_DEPTHWISE_WORDS_HVX_H
