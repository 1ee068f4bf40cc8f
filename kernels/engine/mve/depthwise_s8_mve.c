// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions with Helium. Contract: depthwise_s8_mve.h.
//
// Sixteen channels at a time, the last sixteen maybe overlapping; with fewer channels,
// as many neighbouring outputs of a row as have sixteen. Their rows of the image are
// copied to a ring of as many as the taps span, with the zero point around them, unless
// no tap is outside the image.
#include <stddef.h>

#include "kernels/engine/mve/depthwise_s8_mve.h"
#include "kernels/engine/mve/products_mve.h"

enum {
    LANES = EMBER_DEPTHWISE_LANES_MVE,
    MOST_TAPS = 255,
    MOST_CHANNELS = 1 << 20,
    MOST_SCRATCH = 1 << 20
};

typedef ember_depthwise_s8_mve_t state_t;

// Sets the lanes of a block from its sixteen channels; `channels` has the channel of
// each lane, four of each n in turn.
static void set_block(const state_t *s, ember_depthwise_block_mve_t *block,
                      int32_t from, const uint32_t (*channels)[4]) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    int16x8_t even = vdupq_n_s16(0), odd = even;
    int8x16_t last = vdupq_n_s8(0),
              least = last; // the larger of two taps, least of all

    for (int32_t tap = 0; tap < s->taps; tap++) {
        const int8x16_t w = vldrbq_s8(block->weights + tap * LANES);
        least = vminq_s8(least, vmaxq_s8(last, w));
        last = w;
        even = vaddq_s16(even, vmovlbq_s8(w));
        odd = vaddq_s16(odd, vmovltq_s8(w));
    }
    block->paired = vminvq_s8(0, least) > INT8_MIN;
    const int32x4_t sums[4] = {vmovlbq_s16(even), vmovlbq_s16(odd), vmovltq_s16(even),
                               vmovltq_s16(odd)};
    int32x4_t most = vdupq_n_s32(EMBER_SHIFT_MIN_MVE);
    for (int32_t n = 0; n < 4; n++) {
        const uint32x4_t at = vldrwq_u32(channels[n]);
        int32x4_t first = vmulq_n_s32(sums[n], s->conv.x_offset);
        if (scales->bias != NULL) {
            first = vaddq_s32(
                first, vldrwq_gather_shifted_offset_s32(scales->bias + from, at));
        }
        vstrwq_s32(block->first[n], first);
        if (s->conv.rows == EMBER_ROWS_REAL) {
            continue;
        }
        const int32x4_t shifts =
            vldrwq_gather_shifted_offset_s32(scales->shifts + from, at);
        vstrwq_s32(block->multipliers[n],
                   vldrwq_gather_shifted_offset_s32(scales->multipliers + from, at));
        vstrwq_s32(block->shifts[n], shifts);
        most = vmaxq_s32(most, shifts);
    }
    block->shifted = vmaxvq_s32(EMBER_SHIFT_MIN_MVE, most) < 0;
}

// Copies row `at` of the image, from channel `from` on, to its place in the ring.
static void copy_row(const state_t *s, const int8_t *x, int32_t from, int32_t at) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *width = &conv->width;
    const int32_t channels = conv->channels;
    const int32_t room = (s->pitch - LANES) / s->cell + 1 - width->padding;
    const int32_t columns = room < width->in ? room : width->in;
    int8_t *row = s->ring + (at + conv->height.padding) % s->slots * s->pitch;

    if (at < 0 || at >= conv->height.in) {
        ember_fill_mve(row, (int8_t)-conv->x_offset, s->pitch);
        return;
    }
    x += (ptrdiff_t)at * width->in * channels + from;
    row += width->padding * s->cell;
    if (s->cell == channels) {
        ember_copy_mve(row, x, columns * channels);
        return;
    }
    for (int32_t left = columns; left > 0; left--) {
        vstrbq_s8(row, vldrbq_s8(x));
        row += LANES;
        x += channels;
    }
}

// All outputs of an image in a block of channels, those from `from` on.
static void run_image(const state_t *s, const ember_depthwise_block_mve_t *block,
                      const int8_t *x, int32_t from, int8_t *y,
                      ember_depthwise_mve_t outputs) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const int32_t whole = width->out / s->group;
    const int32_t rest = width->out % s->group;
    const int32_t lanes = conv->channels < LANES ? conv->channels : LANES;
    int32_t next = -height->padding;
    ember_depthwise_line_mve_t line = {
        .ring = s->ring,
        .pitch = s->pitch,
        .slots = s->slots,
        .down = height->dilation,
        .step = s->cell * width->dilation,
        .x_step = s->cell * width->stride * s->group,
        .y_step = conv->filters * s->group,
        .y = y + from,
    };

    if (!s->direct) {
        ember_fill_mve(s->ring, (int8_t)-conv->x_offset, s->slots * s->pitch);
    }
    for (int32_t oy = 0; oy < height->out; oy++) {
        const int32_t top = oy * height->stride - height->padding;
        if (s->direct) {
            line.ring = x + from + (ptrdiff_t)top * s->pitch;
            line.slot = 0;
        } else {
            for (next = next < top ? top : next; next < top + s->slots; next++) {
                copy_row(s, x, from, next);
            }
            line.slot = oy * height->stride % s->slots;
        }
        line.lanes = lanes * s->group;
        outputs(block, &line, 0, whole);
        if (rest > 0) {
            line.lanes = lanes * rest;
            outputs(block, &line, whole, 1);
        }
        line.y += (ptrdiff_t)width->out * conv->filters;
    }
}

static void run_block(const state_t *s, int32_t from, const uint32_t (*channels)[4],
                      uint8x16_t bytes, ember_depthwise_mve_t outputs) {
    const ember_conv_s8_t *conv = &s->conv;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;
    ember_depthwise_block_mve_t block;

    block.weights = s->weights;
    block.rows = conv->height.kernel;
    block.columns = conv->width.kernel;
    block.zero_point = conv->scales.zero_point;
    block.limits = conv->scales.limits;
    block.scales = &conv->scales;
    for (int32_t tap = 0; tap < s->taps; tap++) {
        const int8_t *w = conv->w + (ptrdiff_t)tap * conv->filters + from;
        vstrbq_s8(s->weights + tap * LANES, vldrbq_gather_offset_s8(w, bytes));
    }
    set_block(s, &block, from, channels);
    for (int32_t n = 0; n < conv->batches; n++) {
        run_image(s, &block, x, from, y, outputs);
        x += (ptrdiff_t)conv->height.in * conv->width.in * conv->channels;
        y += (ptrdiff_t)conv->height.out * conv->width.out * conv->filters;
    }
}

void ember_depthwise_s8_mve_run(const state_t *s, ember_depthwise_mve_t outputs) {
    const int32_t channels = s->conv.channels;
    const int32_t cycle = channels < LANES ? channels : LANES;
    uint32_t lanes[4][4];
    uint8_t bytes[LANES];

    for (int32_t i = 0; i < LANES; i++) {
        bytes[i] = (uint8_t)(i % cycle);
        lanes[i % 4][i / 4] = bytes[i];
    }
    const uint8x16_t places = vldrbq_u8(bytes);
    for (int32_t from = 0; from < channels; from += LANES) {
        const int32_t last = channels - cycle;
        run_block(s, from < last ? from : last, (const uint32_t(*)[4])lanes, places,
                  outputs);
    }
}

// Neighbouring outputs whose channels are the lanes.
static int32_t group_of(const ember_conv_s8_t *conv) {
    return conv->width.stride == 1 && conv->channels < LANES ? LANES / conv->channels
                                                             : 1;
}

// Whether all lanes under all taps are in the image.
static bool is_direct(const ember_conv_s8_t *conv) {
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const int32_t group = group_of(conv);
    const int64_t channels = conv->channels;
    const int64_t last = channels < LANES ? 0 : channels - LANES; // first of its block
    const int64_t row = (height->out - (int64_t)1) * height->stride +
                        (height->kernel - (int64_t)1) * height->dilation;
    const int64_t column = (int64_t)((width->out - 1) / group * group) * width->stride +
                           (width->kernel - (int64_t)1) * width->dilation;
    const int64_t pitch = width->in * channels;

    return height->padding == 0 && width->padding == 0 &&
           row * pitch + column * channels + last + LANES <= height->in * pitch;
}

// Chooses the ring; false if it needs too much.
static bool set_ring(state_t *s) {
    const ember_conv_s8_axis_t *height = &s->conv.height, *width = &s->conv.width;
    const int32_t channels = s->conv.channels;
    const int64_t slots = (int64_t)(height->kernel - 1) * height->dilation + 1;
    const int64_t columns = (int64_t)(width->out - 1) * width->stride +
                            (int64_t)(width->kernel - 1) * width->dilation + 1;

    s->direct = is_direct(&s->conv);
    s->cell = channels < LANES ? channels : LANES;
    s->group = group_of(&s->conv);
    if (s->direct) {
        s->slots = (int32_t)slots;
        s->cell = channels;
        s->pitch = width->in * channels;
        return true;
    }
    const int64_t pitch = (columns - 1) * s->cell + LANES;
    if (slots > MOST_SCRATCH || pitch > MOST_SCRATCH || slots * pitch > MOST_SCRATCH) {
        return false;
    }
    s->slots = (int32_t)slots;
    s->pitch = (int32_t)pitch;
    return true;
}

ember_status_t ember_depthwise_s8_mve_prepare(state_t *s, ember_node_t *node) {
    const ember_conv_s8_t *conv = &s->conv;
    const int64_t taps = (int64_t)conv->height.kernel * conv->width.kernel;
    if (conv->filters != conv->channels || conv->channels > MOST_CHANNELS ||
        taps > MOST_TAPS || conv->x_offset < -INT8_MAX ||
        conv->rows < EMBER_ROWS_RIGHT) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_depthwise: layout");
    }
    if (!set_ring(s)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_depthwise: scratch");
    }
    // Rows are in the ring before outputs may overwrite them, unless channels are read
    // a second time.
    if (conv->over &&
        (s->direct || (conv->channels > LANES && conv->channels % LANES != 0))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_depthwise: over");
    }
    s->taps = (int32_t)taps;
    const int32_t weights = s->taps * LANES;
    const int32_t ring = s->direct ? 0 : s->slots * s->pitch;
    s->weights = ember_node_scratch(node, (size_t)(weights + ring));
    s->ring = s->weights == NULL ? NULL : s->weights + weights;
    return ember_node_status(node);
}
