// SPDX-License-Identifier: Apache-2.0
// convolution_f32: one- or two-dimensional, not transposed, everything contiguous;
// grouped and depthwise too.
//
// Blocks of filters x outputs along a line are summed in registers: 4 x 4, and 1 x 4
// for the filters that are left. Lines run along the width or, in an image that is high
// and narrow, along the height: the axis with more outputs whose taps all lie inside
// the image. Which taps do is decided once per block of a line for all lines.
//
// Products and sums are rounded one by one; each output adds channels, then kernel
// rows, then columns, in the order of the axes, the same on every board.
#include "kernels/convolution/axis.h"

#define INLINE   static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))

typedef struct {
    const float *x;    // (batches, groups * channels, in_h, in_w)
    const float *w;    // (groups * filters, channels, kernel_h, kernel_w)
    const float *bias; // (groups * filters,) or NULL
    float *y;          // (batches, groups * filters, out_h, out_w)
    int32_t batches, groups, channels, filters;
    ember_axis_t across; // from line to line
    ember_axis_t along;  // within a line
} state_t;

// Where a block lies.
typedef struct {
    const float *x;     // first channel of the group
    const float *w;     // first of the filters
    const float *bias;  // of the first of the filters, or NULL
    float *y;           // first of the filters, first line, first output of the block
    int32_t at;         // first output of the block along the line
    ember_range_t taps; // along the line, of all its outputs
} place_t;

// Adds the bias to a block of sums and stores it.
NOINLINE void finish(const state_t *s, const place_t *place, int32_t line,
                     float sums[4][4], int height, int width) {
    float *y = place->y + (ptrdiff_t)line * s->across.y_step;

    for (int h = 0; h < height; h++) {
        const float bias = place->bias == NULL ? 0.0f : place->bias[h];
        for (int p = 0; p < width; p++) {
            y[(ptrdiff_t)p * s->along.y_step] = sums[h][p] + bias;
        }
        y += (ptrdiff_t)s->across.out * s->along.out;
    }
}

// Outputs of one line: `height` filters, `width` neighbours. The elements of a line
// are `unit` apart in the image, and its weights in the kernel are `w_tap` apart: 1
// where the line is a row, so that the compiler knows.
INLINE void block(const state_t *s, const place_t *place, int32_t line, int height,
                  int width, ptrdiff_t unit, ptrdiff_t w_tap) {
    const ember_axis_t *across = &s->across;
    const ember_axis_t *along = &s->along;
    const ember_range_t rows = ember_axis_taps(across, line);
    const int32_t count = place->taps.past - place->taps.first;
    const ptrdiff_t step = along->stride * unit;
    const ptrdiff_t x_tap = along->dilation * unit;
    const ptrdiff_t x_row = (ptrdiff_t)across->dilation * across->x_step;
    const ptrdiff_t plane = (ptrdiff_t)across->in * along->in;
    const ptrdiff_t area = (ptrdiff_t)across->kernel * along->kernel;
    const ptrdiff_t filter = s->channels * area;
    // Of the first tap that is inside, in the first channel.
    ptrdiff_t x_at =
        ((ptrdiff_t)line * across->stride - across->padding) * across->x_step +
        rows.first * x_row +
        ((ptrdiff_t)place->at * along->stride - along->padding) * along->x_step +
        place->taps.first * x_tap;
    const float *w_at =
        place->w + (ptrdiff_t)rows.first * across->w_step + place->taps.first * w_tap;
    float sums[4][4] = {{0}};

    for (int32_t c = 0; c < s->channels; c++) {
        ptrdiff_t from = x_at;
        const float *w_row = w_at;
        for (int32_t row = rows.first; row < rows.past; row++) {
            const float *x = place->x + from;
            const float *w = w_row;
            for (int32_t k = 0; k < count; k++) {
#pragma GCC unroll 4
                for (int h = 0; h < height; h++) {
                    const float weight = w[h * filter];
#pragma GCC unroll 4
                    for (int p = 0; p < width; p++) {
                        sums[h][p] += weight * x[p * step];
                    }
                }
                x += x_tap;
                w += w_tap;
            }
            from += x_row;
            w_row += across->w_step;
        }
        x_at += plane;
        w_at += area;
    }
    // A copy, so that the sums themselves live in registers.
    float done[4][4];
#pragma GCC unroll 4
    for (int h = 0; h < height; h++) {
#pragma GCC unroll 4
        for (int p = 0; p < width; p++) {
            done[h][p] = sums[h][p];
        }
    }
    finish(s, place, line, done, height, width);
}

// The shapes of block that exist, each for all lines.
NOINLINE void rows_4x4(const state_t *s, const place_t *place) {
    for (int32_t line = 0; line < s->across.out; line++) {
        block(s, place, line, 4, 4, 1, 1);
    }
}

NOINLINE void lines_4x4(const state_t *s, const place_t *place) {
    for (int32_t line = 0; line < s->across.out; line++) {
        block(s, place, line, 4, 4, s->along.x_step, s->along.w_step);
    }
}

NOINLINE void lines_4x1(const state_t *s, const place_t *place) {
    for (int32_t line = 0; line < s->across.out; line++) {
        block(s, place, line, 4, 1, s->along.x_step, s->along.w_step);
    }
}

NOINLINE void lines_1x4(const state_t *s, const place_t *place) {
    for (int32_t line = 0; line < s->across.out; line++) {
        block(s, place, line, 1, 4, s->along.x_step, s->along.w_step);
    }
}

NOINLINE void lines_1x1(const state_t *s, const place_t *place) {
    for (int32_t line = 0; line < s->across.out; line++) {
        block(s, place, line, 1, 1, s->along.x_step, s->along.w_step);
    }
}

// Computes the block of all lines that begins at place->at, `left` inner outputs
// before the next edge; returns its width.
static int32_t run_blocks(const state_t *s, const place_t *place, int32_t left,
                          bool four) {
    if (left < 4) {
        (four ? lines_4x1 : lines_1x1)(s, place);
        return 1;
    }
    if (!four) {
        lines_1x4(s, place);
    } else if (ember_axis_is_row(&s->along)) {
        rows_4x4(s, place);
    } else {
        lines_4x4(s, place);
    }
    return 4;
}

// All outputs of one batch and group.
static void run_group(const state_t *s, const float *x, const float *w,
                      const float *bias, float *y) {
    const ptrdiff_t filter =
        (ptrdiff_t)s->channels * s->across.kernel * s->along.kernel;
    const ptrdiff_t plane = (ptrdiff_t)s->across.out * s->along.out;
    const ember_range_t inner = ember_axis_inner(&s->along);

    for (int32_t f = 0; f < s->filters;) {
        const bool four = f + 4 <= s->filters;
        place_t place = {.x = x, .w = w + f * filter};
        place.bias = bias == NULL ? NULL : bias + f;
        for (int32_t at = 0; at < s->along.out;) {
            place.y = y + f * plane + (ptrdiff_t)at * s->along.y_step;
            place.at = at;
            place.taps = ember_axis_taps(&s->along, at);
            at += run_blocks(s, &place, at < inner.first ? 0 : inner.past - at, four);
        }
        f += four ? 4 : 1;
    }
}

static int32_t inner_count(const ember_axis_t *axis) {
    const ember_range_t inner = ember_axis_inner(axis);
    return inner.past - inner.first;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_conv_t conv;
    const ember_status_t status = ember_conv_args(&conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (conv.dtype != EMBER_F32 || conv.transposed || !conv.planes || conv.in[0] != 1 ||
        conv.out[0] != 1 || conv.kernel[0] != 1 || conv.channels == 0) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution_f32: layout");
    }
    s->x = (const void *)conv.x.data;
    s->w = (const void *)conv.w.data;
    s->bias = (const void *)conv.bias;
    s->y = (void *)conv.y.data;
    s->batches = conv.batches;
    s->groups = conv.groups;
    s->channels = conv.channels;
    s->filters = conv.filters;
    s->across = ember_axis_of(&conv, 1);
    s->along = ember_axis_of(&conv, 2);
    // Lines along the height load with a step: only where the width has no room.
    if (inner_count(&s->along) < 4 && inner_count(&s->across) >= 4) {
        const ember_axis_t height = s->across;
        s->across = s->along;
        s->along = height;
    }
    return EMBER_OK;
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ptrdiff_t filter =
        (ptrdiff_t)s->channels * s->across.kernel * s->along.kernel;
    const ptrdiff_t x_group = (ptrdiff_t)s->channels * s->across.in * s->along.in;
    const ptrdiff_t y_group = (ptrdiff_t)s->filters * s->across.out * s->along.out;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t g = 0; g < s->groups; g++) {
            const ptrdiff_t at = (ptrdiff_t)n * s->groups + g;
            run_group(s, s->x + at * x_group, s->w + (ptrdiff_t)g * s->filters * filter,
                      s->bias == NULL ? NULL : s->bias + (ptrdiff_t)g * s->filters,
                      s->y + at * y_group);
        }
    }
    return EMBER_OK;
}

EMBER_KERNEL(convolution_f32, state_t);
