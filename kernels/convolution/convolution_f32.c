// SPDX-License-Identifier: Apache-2.0
// convolution_f32: one- or two-dimensional, not transposed, everything contiguous;
// grouped and depthwise too.
//
// Blocks of filters x pixels are summed in registers: 4 x 4 where a group has as
// many filters, else 1 x 8, so a depthwise convolution is the case of one channel
// and one filter. Which taps lie inside the image is decided once per row and, at
// its ends, once per pixel. Products and sums are rounded one by one, in the same
// order on every board.
#include "kernels/convolution/conv.h"

#define INLINE static inline __attribute__((always_inline))

typedef struct {
    const float *x;    // (batches, groups * channels, in_h, in_w)
    const float *w;    // (groups * filters, channels, kernel_h, kernel_w)
    const float *bias; // (groups * filters,) or NULL
    float *y;          // (batches, groups * filters, out_h, out_w)
    int32_t batches, groups, channels, filters;
    int32_t in_h, in_w, out_h, out_w, kernel_h, kernel_w;
    int32_t stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w;
} state_t;

// Taps [first, past) of one dimension that lie inside the image.
typedef struct {
    int32_t first;
    int32_t past;
} taps_t;

// A row of outputs of some filters.
typedef struct {
    const float *x;    // first channel of the group
    const float *w;    // first of the filters
    const float *bias; // of the first of the filters, or NULL
    float *y;          // the row, of the first of the filters
    int32_t top;       // image row of tap 0; may be outside
    taps_t rows;
} row_t;

static taps_t taps_inside(int32_t at, int32_t dilation, int32_t kernel, int32_t in) {
    taps_t taps = {0, 0};

    taps.first = at < 0 ? (-at + dilation - 1) / dilation : 0;
    if (at < in) {
        const int32_t most = (in - at - 1) / dilation + 1;
        taps.past = most < kernel ? most : kernel;
    }
    if (taps.first > taps.past) {
        taps.first = taps.past;
    }
    return taps;
}

// Adds the bias to a block of sums and stores it.
static __attribute__((noinline)) void finish(const state_t *s, const row_t *row,
                                             int32_t at, float sums[4][8], int height,
                                             int width) {
    float *y = row->y + at;

    for (int h = 0; h < height; h++) {
        const float bias = row->bias == NULL ? 0.0f : row->bias[h];
        for (int p = 0; p < width; p++) {
            y[p] = sums[h][p] + bias;
        }
        y += (ptrdiff_t)s->out_h * s->out_w;
    }
}

// Outputs [at, at + width) of `height` filters; all have the same taps `columns`.
INLINE void block(const state_t *s, const row_t *row, taps_t columns, int32_t at,
                  int height, int width, int32_t step) {
    const ptrdiff_t left = (ptrdiff_t)at * s->stride_w - s->padding_w +
                           (ptrdiff_t)columns.first * s->dilation_w;
    const ptrdiff_t filter = (ptrdiff_t)s->channels * s->kernel_h * s->kernel_w;
    const ptrdiff_t plane = (ptrdiff_t)s->in_h * s->in_w;
    const int32_t count = columns.past - columns.first;
    const float *w_plane = row->w + columns.first;
    float sums[4][8] = {{0}};

    for (int32_t c = 0; c < s->channels; c++) {
        for (int32_t kh = row->rows.first; kh < row->rows.past; kh++) {
            const ptrdiff_t line = row->top + (ptrdiff_t)kh * s->dilation_h;
            const float *x = row->x + c * plane + line * s->in_w + left;
            const float *w = w_plane + (ptrdiff_t)kh * s->kernel_w;
            for (int32_t kw = 0; kw < count; kw++) {
#pragma GCC unroll 4
                for (int h = 0; h < height; h++) {
                    const float weight = w[h * filter];
#pragma GCC unroll 8
                    for (int p = 0; p < width; p++) {
                        sums[h][p] += weight * x[p * step];
                    }
                }
                x += s->dilation_w;
                w++;
            }
        }
        w_plane += (ptrdiff_t)s->kernel_h * s->kernel_w;
    }
    // A copy, so that the sums themselves live in registers (and clang makes vectors
    // of them).
    float done[4][8];
#pragma GCC unroll 4
    for (int h = 0; h < height; h++) {
#pragma GCC unroll 8
        for (int p = 0; p < width; p++) {
            done[h][p] = sums[h][p];
        }
    }
    finish(s, row, at, done, height, width);
}

// The shapes of block that exist.
static __attribute__((noinline)) void block_4x4(const state_t *s, const row_t *row,
                                                taps_t columns, int32_t at) {
    if (s->stride_w == 1) {
        block(s, row, columns, at, 4, 4, 1);
    } else {
        block(s, row, columns, at, 4, 4, s->stride_w);
    }
}

static __attribute__((noinline)) void block_1x8(const state_t *s, const row_t *row,
                                                taps_t columns, int32_t at) {
    if (s->stride_w == 1) {
        block(s, row, columns, at, 1, 8, 1);
    } else {
        block(s, row, columns, at, 1, 8, s->stride_w);
    }
}

static __attribute__((noinline)) void pixel_4(const state_t *s, const row_t *row,
                                              int32_t at) {
    const taps_t columns = taps_inside(at * s->stride_w - s->padding_w, s->dilation_w,
                                       s->kernel_w, s->in_w);
    block(s, row, columns, at, 4, 1, 1);
}

static __attribute__((noinline)) void pixel_1(const state_t *s, const row_t *row,
                                              int32_t at) {
    const taps_t columns = taps_inside(at * s->stride_w - s->padding_w, s->dilation_w,
                                       s->kernel_w, s->in_w);
    block(s, row, columns, at, 1, 1, 1);
}

// One row of outputs: [inner.first, inner.past) have every tap inside.
static void run_row(const state_t *s, const row_t *row, taps_t inner, bool four) {
    const taps_t all = {0, s->kernel_w};
    const int32_t width = four ? 4 : 8;
    int32_t at = 0;

    while (at < s->out_w) {
        if (at >= inner.first && at + width <= inner.past) {
            if (four) {
                block_4x4(s, row, all, at);
            } else {
                block_1x8(s, row, all, at);
            }
            at += width;
        } else {
            if (four) {
                pixel_4(s, row, at);
            } else {
                pixel_1(s, row, at);
            }
            at++;
        }
    }
}

// Outputs of a row whose taps are all inside the image.
static taps_t inner_columns(const state_t *s) {
    const int32_t reach = (s->kernel_w - 1) * s->dilation_w;
    const int32_t last = s->in_w - 1 - reach + s->padding_w; // leftmost tap + padding
    taps_t inner = {0, 0};

    inner.first = (s->padding_w + s->stride_w - 1) / s->stride_w;
    if (last >= 0) {
        inner.past = last / s->stride_w + 1;
        inner.past = inner.past < s->out_w ? inner.past : s->out_w;
    }
    return inner;
}

// All outputs of one batch and group.
static void run_group(const state_t *s, const float *x, const float *w,
                      const float *bias, float *y) {
    const ptrdiff_t filter = (ptrdiff_t)s->channels * s->kernel_h * s->kernel_w;
    const ptrdiff_t plane = (ptrdiff_t)s->out_h * s->out_w;
    const taps_t inner = inner_columns(s);

    for (int32_t f = 0; f < s->filters;) {
        const bool four = f + 4 <= s->filters;
        for (int32_t h = 0; h < s->out_h; h++) {
            row_t row = {.x = x, .w = w + f * filter, .y = y + f * plane};
            row.bias = bias == NULL ? NULL : bias + f;
            row.y += (ptrdiff_t)h * s->out_w;
            row.top = h * s->stride_h - s->padding_h;
            row.rows = taps_inside(row.top, s->dilation_h, s->kernel_h, s->in_h);
            run_row(s, &row, inner, four);
        }
        f += four ? 4 : 1;
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_conv_t conv;
    const ember_status_t status = ember_conv_args(&conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (conv.dtype != EMBER_F32 || conv.transposed || !conv.planes || conv.in[0] != 1 ||
        conv.out[0] != 1 || conv.kernel[0] != 1 || conv.channels == 0) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution_f32: layout");
    }
    *(state_t *)state = (state_t){
        .x = (const void *)conv.x.data,
        .w = (const void *)conv.w.data,
        .bias = (const void *)conv.bias,
        .y = (void *)conv.y.data,
        .batches = conv.batches,
        .groups = conv.groups,
        .channels = conv.channels,
        .filters = conv.filters,
        .in_h = conv.in[1],
        .in_w = conv.in[2],
        .out_h = conv.out[1],
        .out_w = conv.out[2],
        .kernel_h = conv.kernel[1],
        .kernel_w = conv.kernel[2],
        .stride_h = conv.stride[1],
        .stride_w = conv.stride[2],
        .padding_h = conv.padding[1],
        .padding_w = conv.padding[2],
        .dilation_h = conv.dilation[1],
        .dilation_w = conv.dilation[2],
    };
    return EMBER_OK;
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ptrdiff_t x_group = (ptrdiff_t)s->channels * s->in_h * s->in_w;
    const ptrdiff_t w_group =
        (ptrdiff_t)s->filters * s->channels * s->kernel_h * s->kernel_w;
    const ptrdiff_t y_group = (ptrdiff_t)s->filters * s->out_h * s->out_w;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t g = 0; g < s->groups; g++) {
            const ptrdiff_t at = (ptrdiff_t)n * s->groups + g;
            run_group(s, s->x + at * x_group, s->w + g * w_group,
                      s->bias == NULL ? NULL : s->bias + (ptrdiff_t)g * s->filters,
                      s->y + at * y_group);
        }
    }
    return EMBER_OK;
}

EMBER_KERNEL(convolution_f32, state_t);
