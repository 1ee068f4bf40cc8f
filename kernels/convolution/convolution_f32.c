// SPDX-License-Identifier: Apache-2.0
// convolution_f32: one- or two-dimensional, not transposed, everything contiguous but
// the rows of an image; also grouped.
//
// Lines of the image under a tile of neighbouring outputs are copied to scratch with
// zeros around the image, so that all outputs have all their taps. Blocks of 4 filters
// x 4 outputs are then summed in registers, 1 x 4 for the remaining filters. Lines run
// along the width or, in a tall and narrow image, along the height.
//
// Products and sums are rounded one by one; each output adds channels, then lines of
// the kernel, then taps of a line: the same on every board. Infinite weights on padding
// give NaN.
#include "kernels/convolution/axis.h"

#define INLINE   static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))

enum { BLOCK = 4, MOST_LINES = 2048, MOST_SCRATCH = 1 << 20 }; // elements

typedef struct {
    const float *x;    // (batches, groups * channels, in_h, in_w), rows contiguous
    const float *w;    // (groups * filters, channels, kernel_h, kernel_w)
    const float *bias; // (groups * filters,) or NULL
    float *y;          // (batches, groups * filters, out_h, out_w)
    float *lines;      // (channels, across.kernel, length under a tile)
    ptrdiff_t x_plane; // elements from channel to channel
    int32_t batches, groups, channels, filters;
    int32_t tile;        // outputs, a multiple of BLOCK
    ember_axis_t across; // from line to line
    ember_axis_t along;  // within a line
} state_t;

// Elements of a line under `tile` outputs.
static int64_t length_under(const ember_axis_t *along, int32_t tile) {
    return (tile - (int64_t)1) * along->stride +
           (along->kernel - (int64_t)1) * along->dilation + 1;
}

// Where a block is.
typedef struct {
    const float *x;    // in the lines, first tap of the first output
    const float *w;    // first of the filters
    const float *bias; // of the first of the filters, or NULL
    float *y;          // first of the filters, first output
    int32_t length;    // of a line under a tile, elements
    int32_t count;     // outputs to store
} place_t;

// Adds the bias to a block of sums and stores it.
NOINLINE void finish(const state_t *s, const place_t *place, float sums[BLOCK][BLOCK],
                     int height) {
    float *y = place->y;

    for (int h = 0; h < height; h++) {
        const float bias = place->bias == NULL ? 0.0f : place->bias[h];
        for (int32_t p = 0; p < place->count; p++) {
            y[(ptrdiff_t)p * s->along.y_step] = sums[h][p] + bias;
        }
        y += (ptrdiff_t)s->across.out * s->along.out;
    }
}

// Outputs of one line: `height` filters, BLOCK neighbours. The last four are constants
// for common values, so that loops unroll and elements are loaded once.
INLINE void block(const state_t *s, const place_t *place, int height, int32_t taps,
                  int32_t stride, int32_t dilation, int32_t w_tap) {
    const ptrdiff_t area = (ptrdiff_t)s->across.kernel * s->along.kernel;
    const ptrdiff_t filter = s->channels * area;
    const float *x_line = place->x;
    const float *w_channel = place->w;
    float sums[BLOCK][BLOCK] = {{0}};

    for (int32_t c = s->channels; c > 0; c--) {
        const float *w_line = w_channel;
        for (int32_t line = s->across.kernel; line > 0; line--) {
            const float *x = x_line;
            const float *w = w_line;
#pragma GCC unroll 3
            for (int32_t t = 0; t < taps; t++) {
#pragma GCC unroll 4
                for (int h = 0; h < height; h++) {
                    const float weight = w[h * filter];
#pragma GCC unroll 4
                    for (int p = 0; p < BLOCK; p++) {
                        sums[h][p] += weight * x[p * stride];
                    }
                }
                x += dilation;
                w += w_tap;
            }
            x_line += place->length;
            w_line += s->across.w_step;
        }
        w_channel += area;
    }
    // A copy, so that the sums themselves stay in registers.
    float done[BLOCK][BLOCK];
#pragma GCC unroll 4
    for (int h = 0; h < height; h++) {
#pragma GCC unroll 4
        for (int p = 0; p < BLOCK; p++) {
            done[h][p] = sums[h][p];
        }
    }
    finish(s, place, done, height);
}

NOINLINE void block_3_taps(const state_t *s, const place_t *place) {
    block(s, place, BLOCK, 3, 1, 1, 1);
}

NOINLINE void block_4(const state_t *s, const place_t *place) {
    const ember_axis_t *along = &s->along;
    block(s, place, BLOCK, along->kernel, along->stride, along->dilation,
          along->w_step);
}

NOINLINE void block_1(const state_t *s, const place_t *place) {
    const ember_axis_t *along = &s->along;
    block(s, place, 1, along->kernel, along->stride, along->dilation, along->w_step);
}

// The outputs of all filters for the lines in scratch; `first` has the first of them.
static void run_tile(const state_t *s, const place_t *first, int32_t outputs) {
    const ember_axis_t *along = &s->along;
    const bool three = along->kernel == 3 && along->stride == 1 &&
                       along->dilation == 1 && along->w_step == 1;
    const ptrdiff_t filter = (ptrdiff_t)s->channels * s->across.kernel * along->kernel;
    const ptrdiff_t plane = (ptrdiff_t)s->across.out * along->out;

    for (int32_t f = 0; f < s->filters;) {
        const bool four = f + BLOCK <= s->filters;
        for (int32_t at = 0; at < outputs; at += BLOCK) {
            const int32_t left = outputs - at;
            const place_t place = {
                .x = s->lines + (ptrdiff_t)at * along->stride,
                .w = first->w + f * filter,
                .bias = first->bias == NULL ? NULL : first->bias + f,
                .y = first->y + f * plane + (ptrdiff_t)at * along->y_step,
                .length = first->length,
                .count = left < BLOCK ? left : BLOCK,
            };
            (!four ? block_1 : three ? block_3_taps : block_4)(s, &place);
        }
        f += four ? BLOCK : 1;
    }
}

// Copies `length` elements from position `first` of a line on, with zeros outside.
static void copy_line(const ember_axis_t *along, const float *line, int32_t first,
                      int32_t length, float *to) {
    const int32_t x_step = along->x_step;
    const int32_t past = along->in - first < length ? along->in - first : length;
    int32_t i = 0;

    for (; i < length && first + i < 0; i++) {
        to[i] = 0.0f;
    }
    const float *x = line + (ptrdiff_t)(i < past ? first + i : 0) * x_step;
    for (; i < past; i++) {
        to[i] = *x;
        x += x_step;
    }
    for (; i < length; i++) {
        to[i] = 0.0f;
    }
}

// Copies the lines under the tile that begins at output `at` of line `line`.
static void copy_lines(const state_t *s, const float *x, int32_t line, int32_t at,
                       int32_t length) {
    static const ember_axis_t nothing = {0};
    const ember_axis_t *across = &s->across;
    const int32_t first = at * s->along.stride - s->along.padding;
    float *to = s->lines;

    for (int32_t c = 0; c < s->channels; c++) {
        int32_t from = line * across->stride - across->padding;
        for (int32_t k = 0; k < across->kernel; k++) {
            const bool inside = from >= 0 && from < across->in;
            copy_line(inside ? &s->along : &nothing,
                      inside ? x + (ptrdiff_t)from * across->x_step : x, first, length,
                      to);
            to += length;
            from += across->dilation;
        }
        x += s->x_plane;
    }
}

// All outputs of one batch and group.
static void run_group(const state_t *s, const float *x, const place_t *first) {
    for (int32_t line = 0; line < s->across.out; line++) {
        for (int32_t at = 0; at < s->along.out; at += s->tile) {
            const int32_t left = s->along.out - at;
            place_t place = *first;
            place.y +=
                (ptrdiff_t)line * s->across.y_step + (ptrdiff_t)at * s->along.y_step;
            copy_lines(s, x, line, at, place.length);
            run_tile(s, &place, left < s->tile ? left : s->tile);
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ptrdiff_t x_group = s->channels * s->x_plane;
    const ptrdiff_t filter =
        (ptrdiff_t)s->channels * s->across.kernel * s->along.kernel;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t g = 0; g < s->groups; g++) {
            const ptrdiff_t at = (ptrdiff_t)n * s->groups + g;
            const ptrdiff_t f = (ptrdiff_t)g * s->filters;
            const place_t first = {
                .w = s->w + f * filter,
                .bias = s->bias == NULL ? NULL : s->bias + f,
                .y = s->y + at * s->filters * s->across.out * s->along.out,
                .length = (int32_t)length_under(&s->along, s->tile),
            };
            run_group(s, s->x + at * x_group, &first);
        }
    }
    return EMBER_OK;
}

// Chooses the tile; false if even the smallest tile needs too much scratch.
static bool set_tile(state_t *s) {
    const int64_t lines = (int64_t)s->channels * s->across.kernel;

    s->tile = (s->along.out + BLOCK - 1) / BLOCK * BLOCK;
    while (s->tile > BLOCK && lines * length_under(&s->along, s->tile) > MOST_LINES) {
        s->tile = (s->tile / 2 + BLOCK - 1) / BLOCK * BLOCK;
    }
    const int64_t length = length_under(&s->along, s->tile);
    return length <= MOST_SCRATCH && lines <= MOST_SCRATCH &&
           lines * length <= MOST_SCRATCH;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_conv_t conv;
    const ember_status_t status = ember_conv_args(&conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (!ember_conv_is_2d_f32(&conv) || !conv.lines || conv.batches == 0) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution_f32: layout");
    }
    s->x = (const void *)conv.x.data;
    s->w = (const void *)conv.w.data;
    s->bias = (const void *)conv.bias;
    s->y = (void *)conv.y.data;
    s->x_plane = ember_axis_plane(&conv);
    s->batches = conv.batches;
    s->groups = conv.groups;
    s->channels = conv.channels;
    s->filters = conv.filters;
    // Lines along the height are a little slower, so only if the width has no room.
    const bool high = conv.out[2] < 2 * BLOCK && conv.out[1] > 2 * conv.out[2];
    s->across = ember_axis_of(&conv, high ? 2 : 1);
    s->along = ember_axis_of(&conv, high ? 1 : 2);
    if (!set_tile(s)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution_f32: scratch");
    }
    const int64_t lines = (int64_t)s->channels * s->across.kernel;
    const size_t elements = (size_t)(lines * length_under(&s->along, s->tile));
    s->lines = ember_node_scratch(node, elements * sizeof(float));
    return ember_node_status(node);
}

EMBER_KERNEL(convolution_f32, state_t);
