// SPDX-License-Identifier: Apache-2.0
// quantized_depthwise_conv2d_mve: one filter per channel, with Helium.
//
// Sixteen channels at a time, the last sixteen maybe a second time; of fewer channels
// as many neighbouring outputs of a row as have sixteen. Their rows of the image are
// copied to a ring of as many as the taps span, with the zero point around them.
// Products of two taps are added as int16, which holds them unless both weights are
// -128.
#include <stddef.h>

#include "kernels/cortex_m/products_mve.h"

enum {
    LANES = EMBER_LANES_S8,
    MOST_TAPS = 255,
    MOST_CHANNELS = 1 << 20,
    MOST_SCRATCH = 1 << 20
};

typedef struct {
    ember_conv_s8_t conv;
    int8_t *weights; // (taps, LANES) of one block
    int8_t *ring; // (slots, pitch): row r of the image is in slot (r + padding) % slots
    int32_t taps;
    int32_t slots;
    int32_t pitch; // bytes
    int32_t cell;  // bytes from one column of the ring to the next
    int32_t group; // neighbouring outputs in a block
} state_t;

// One block of channels. Lane i of the vectors n is channel 4 i + n, as the products of
// bytes are widened twice.
typedef struct {
    int32_t first[4][4]; // what an output starts from
    int32_t multipliers[4][4];
    int32_t shifts[4][4];
    const int8_t *weights;
    int32_t rows, columns; // of taps
    int32_t zero_point;
    ember_limits_s8_t limits;
    bool paired; // the products of two neighbouring taps may be added as int16
} block_t;

// Neighbouring outputs of a row.
typedef struct {
    const int8_t *ring;
    int32_t pitch;
    int32_t slots;
    int32_t slot;   // of the first row of taps
    int32_t down;   // slots between rows of taps
    int32_t step;   // bytes between taps
    int32_t x_step; // bytes between groups of outputs, in the ring
    int32_t y_step;
    int8_t *y;
    int32_t lanes; // that are stored
} line_t;

typedef struct {
    int32x4_t v[4];
} sums_t;

// Adds sums of int16 products: `even` those of channels 0, 2, .., `odd` of 1, 3, ..
INLINE void widen(sums_t *sums, int16x8_t even, int16x8_t odd) {
    sums->v[0] = vaddq_s32(sums->v[0], vmovlbq_s16(even));
    sums->v[1] = vaddq_s32(sums->v[1], vmovlbq_s16(odd));
    sums->v[2] = vaddq_s32(sums->v[2], vmovltq_s16(even));
    sums->v[3] = vaddq_s32(sums->v[3], vmovltq_s16(odd));
}

// Keeps the compiler from loading ahead, or only once: there are no registers for it.
INLINE void in_order(void) {
    __asm__ volatile("" ::: "memory");
}

INLINE void add_tap(sums_t *sums, const int8_t *x, const int8_t *w) {
    const int8x16_t a = vldrbq_s8(x), b = vldrbq_s8(w);
    widen(sums, vmullbq_int_s8(a, b), vmulltq_int_s8(a, b));
    in_order();
}

INLINE void add_two_taps(sums_t *sums, const int8_t *x, const int8_t *next,
                         const int8_t *w) {
    const int8x16_t a = vldrbq_s8(x), b = vldrbq_s8(w);
    int16x8_t even = vmullbq_int_s8(a, b), odd = vmulltq_int_s8(a, b);

    in_order();
    const int8x16_t c = vldrbq_s8(next);
    even = vaddq_s16(even, vmullbq_int_s8(c, vldrbq_s8(w + LANES)));
    in_order();
    odd = vaddq_s16(odd, vmulltq_int_s8(c, vldrbq_s8(w + LANES)));
    widen(sums, even, odd);
    in_order();
}

// The row of the ring that is `slot` slots behind slot 0, and less than twice around.
INLINE const int8_t *row_of(const line_t *line, int32_t slot) {
    slot -= slot < line->slots ? 0 : line->slots;
    return line->ring + slot * line->pitch;
}

INLINE sums_t sum_nine(const block_t *block, sums_t sums, const int8_t *x,
                       const int8_t *y, const int8_t *z) {
    const int8_t *w = block->weights;
    const int32_t step = LANES;

    add_two_taps(&sums, x, x + step, w);
    add_two_taps(&sums, x + 2 * step, y, w + 2 * LANES);
    add_two_taps(&sums, y + step, y + 2 * step, w + 4 * LANES);
    add_two_taps(&sums, z, z + step, w + 6 * LANES);
    add_tap(&sums, z + 2 * step, w + 8 * LANES);
    return sums;
}

// `at` is the distance of the first tap from the begin of its row.
INLINE sums_t sum_any(const block_t *block, sums_t sums, const line_t *line,
                      int32_t at) {
    const int8_t *w = block->weights;
    const int32_t step = line->step;
    int32_t slot = line->slot;

    for (int32_t ky = 0; ky < block->rows; ky++) {
        const int8_t *x = row_of(line, slot) + at;
        int32_t left = block->columns;
        for (; block->paired && left > 1; left -= 2) {
            add_two_taps(&sums, x, x + step, w);
            x += 2 * step;
            w += 2 * LANES;
        }
        for (; left > 0; left--) {
            add_tap(&sums, x, w);
            x += step;
            w += LANES;
        }
        slot += line->down;
    }
    return sums;
}

INLINE int32x4_t scaled(const block_t *block, const sums_t *sums, int32_t n) {
    return ember_scaled_mve(sums->v[n], vldrwq_s32(block->multipliers[n]),
                            vldrwq_s32(block->shifts[n]));
}

// What outputs have in common beside the block.
typedef struct {
    int16_t zero_point;
    bool limited; // by more than int8
    mve_pred16_t lanes;
} ending_t;

// Scales and stores the outputs; channels fall into place as they are narrowed.
INLINE void finish(const block_t *block, const sums_t *sums, ending_t ending,
                   int8_t *y) {
    int16x8_t even = vdupq_n_s16(0), odd = even;
    int8x16_t all = vdupq_n_s8(0);

    even = vqmovnbq_s32(even, scaled(block, sums, 0));
    even = vqmovntq_s32(even, scaled(block, sums, 2));
    even = vqaddq_n_s16(even, ending.zero_point);
    all = vqmovnbq_s16(all, even);
    odd = vqmovnbq_s32(odd, scaled(block, sums, 1));
    odd = vqmovntq_s32(odd, scaled(block, sums, 3));
    odd = vqaddq_n_s16(odd, ending.zero_point);
    all = vqmovntq_s16(all, odd);
    if (ending.limited) {
        all = vmaxq_s8(all, vdupq_n_s8(block->limits.low));
        all = vminq_s8(all, vdupq_n_s8(block->limits.high));
    }
    vstrbq_p_s8(y, all, ending.lanes);
}

INLINE ending_t ending_of(const block_t *block, const line_t *line) {
    return (ending_t){
        .zero_point = (int16_t)block->zero_point,
        .limited = block->limits.low > INT8_MIN || block->limits.high < INT8_MAX,
        .lanes = vctp8q((uint32_t)line->lanes),
    };
}

INLINE sums_t starting(const block_t *block) {
    sums_t sums;
    for (int32_t n = 0; n < 4; n++) {
        sums.v[n] = vldrwq_s32(block->first[n]);
    }
    return sums;
}

// `count` groups of outputs, the first of which is group `from` of its row.
static __attribute__((noinline)) void run_nine(const block_t *block, const line_t *line,
                                               int32_t from, int32_t count) {
    const ending_t ending = ending_of(block, line);
    const int32_t at = from * line->x_step;
    const int8_t *x = row_of(line, line->slot) + at;
    const int8_t *y = row_of(line, line->slot + 1) + at;
    const int8_t *z = row_of(line, line->slot + 2) + at;
    const int32_t x_step = line->x_step, y_step = line->y_step;
    int8_t *to = line->y + from * y_step;

    for (; count > 0; count--) {
        const sums_t sums = sum_nine(block, starting(block), x, y, z);
        finish(block, &sums, ending, to);
        x += x_step;
        y += x_step;
        z += x_step;
        to += y_step;
    }
}

static __attribute__((noinline)) void run_any(const block_t *block, const line_t *line,
                                              int32_t from, int32_t count) {
    const ending_t ending = ending_of(block, line);

    for (; count > 0; count--) {
        const sums_t sums = sum_any(block, starting(block), line, from * line->x_step);
        finish(block, &sums, ending, line->y + from * line->y_step);
        from++;
    }
}

static void run_groups(const block_t *block, const line_t *line, int32_t from,
                       int32_t count) {
    if (block->rows == 3 && block->columns == 3 && line->down == 1 &&
        line->step == LANES && block->paired) {
        run_nine(block, line, from, count);
    } else {
        run_any(block, line, from, count);
    }
}

// Sets the lanes of a block from its sixteen channels; `channels` has the channel of
// each lane, four of each n in turn.
static void set_block(const state_t *s, block_t *block, int32_t from,
                      const uint32_t (*channels)[4]) {
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
    for (int32_t n = 0; n < 4; n++) {
        const uint32x4_t at = vldrwq_u32(channels[n]);
        int32x4_t first = vmulq_n_s32(sums[n], s->conv.x_offset);
        if (scales->bias != NULL) {
            first = vaddq_s32(
                first, vldrwq_gather_shifted_offset_s32(scales->bias + from, at));
        }
        vstrwq_s32(block->first[n], first);
        vstrwq_s32(block->multipliers[n],
                   vldrwq_gather_shifted_offset_s32(scales->multipliers + from, at));
        vstrwq_s32(block->shifts[n],
                   vldrwq_gather_shifted_offset_s32(scales->shifts + from, at));
    }
}

// Copies row `at` of the image, from channel `from` on, to where it belongs in the
// ring.
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
static void run_image(const state_t *s, const block_t *block, const int8_t *x,
                      int32_t from, int8_t *y) {
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    const int32_t whole = width->out / s->group;
    const int32_t rest = width->out % s->group;
    const int32_t lanes = s->group > 1 ? conv->channels : s->cell;
    int32_t next = -height->padding;
    line_t line = {
        .ring = s->ring,
        .pitch = s->pitch,
        .slots = s->slots,
        .down = height->dilation,
        .step = s->cell * width->dilation,
        .x_step = s->cell * width->stride * s->group,
        .y_step = conv->filters * s->group,
        .y = y + from,
    };

    ember_fill_mve(s->ring, (int8_t)-conv->x_offset, s->slots * s->pitch);
    for (int32_t oy = 0; oy < height->out; oy++) {
        const int32_t top = oy * height->stride - height->padding;
        for (next = next < top ? top : next; next < top + s->slots; next++) {
            copy_row(s, x, from, next);
        }
        line.slot = oy * height->stride % s->slots;
        line.lanes = lanes * s->group;
        run_groups(block, &line, 0, whole);
        if (rest > 0) {
            line.lanes = lanes * rest;
            run_groups(block, &line, whole, 1);
        }
        line.y += (ptrdiff_t)width->out * conv->filters;
    }
}

static void run_block(const state_t *s, int32_t from, const uint32_t (*channels)[4],
                      uint8x16_t bytes) {
    const ember_conv_s8_t *conv = &s->conv;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;
    block_t block;

    block.weights = s->weights;
    block.rows = conv->height.kernel;
    block.columns = conv->width.kernel;
    block.zero_point = conv->scales.zero_point;
    block.limits = conv->scales.limits;
    for (int32_t tap = 0; tap < s->taps; tap++) {
        const int8_t *w = conv->w + (ptrdiff_t)tap * conv->filters + from;
        vstrbq_s8(s->weights + tap * LANES, vldrbq_gather_offset_s8(w, bytes));
    }
    set_block(s, &block, from, channels);
    for (int32_t n = 0; n < conv->batches; n++) {
        run_image(s, &block, x, from, y);
        x += (ptrdiff_t)conv->height.in * conv->width.in * conv->channels;
        y += (ptrdiff_t)conv->height.out * conv->width.out * conv->filters;
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
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
        run_block(s, from < last ? from : last, (const uint32_t(*)[4])lanes, places);
    }
    return EMBER_OK;
}

// Chooses the ring; false when it needs too much.
static bool set_ring(state_t *s) {
    const ember_conv_s8_axis_t *height = &s->conv.height, *width = &s->conv.width;
    const int32_t channels = s->conv.channels;
    const int64_t slots = (int64_t)(height->kernel - 1) * height->dilation + 1;
    const int64_t columns = (int64_t)(width->out - 1) * width->stride +
                            (int64_t)(width->kernel - 1) * width->dilation + 1;

    s->cell = channels < LANES ? channels : LANES;
    s->group = width->stride == 1 ? LANES / s->cell : 1;
    const int64_t pitch = (columns - 1) * s->cell + LANES;
    if (slots > MOST_SCRATCH || pitch > MOST_SCRATCH || slots * pitch > MOST_SCRATCH) {
        return false;
    }
    s->slots = (int32_t)slots;
    s->pitch = (int32_t)pitch;
    return true;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_conv_s8_t *conv = &s->conv;
    const ember_status_t status = ember_conv_s8_depthwise_args(conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    const int64_t taps = (int64_t)conv->height.kernel * conv->width.kernel;
    if (conv->filters != conv->channels || conv->channels > MOST_CHANNELS ||
        taps > MOST_TAPS || conv->x_offset < -INT8_MAX ||
        !ember_shifts_within(&conv->scales, conv->filters, EMBER_SHIFT_MIN_MVE,
                             EMBER_SHIFT_MAX_MVE)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_depthwise: layout");
    }
    if (!set_ring(s)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_depthwise: scratch");
    }
    s->taps = (int32_t)taps;
    const int32_t weights = s->taps * LANES;
    s->weights = ember_node_scratch(node, (size_t)(weights + s->slots * s->pitch));
    s->ring = s->weights == NULL ? NULL : s->weights + weights;
    return ember_node_status(node);
}

EMBER_KERNEL(quantized_depthwise_conv2d_mve, state_t);
