// SPDX-License-Identifier: Apache-2.0
// convolution_f32_mve: one- or two-dimensional, not transposed, everything contiguous,
// grouped too, with Helium.
//
// A tile of neighbouring outputs is one matrix product: the weights as they lie, times
// the image's elements under each tap, copied to scratch with zeros around the image.
// Kernels of one element need no copy. Tolerance: gemm_f32.h; infinite weights that
// fall on padding make NaN.
#include "kernels/convolution/lines_mve.h"
#include "kernels/engine/gemm_f32.h"

typedef struct {
    const float *x;    // (batches, groups * channels, in_h, in_w)
    const float *w;    // (groups * filters, channels, kernel_h, kernel_w)
    const float *bias; // (groups * filters,) or NULL
    float *y;          // (batches, groups * filters, out_h, out_w)
    float *taps;       // (channels * kernel_h * kernel_w, tile); NULL: x is it
    int32_t batches, groups, channels, filters;
    int32_t tile; // outputs at most, a multiple of 4; whole rows, or a part of one
    ember_axis_t height;
    ember_axis_t width;
} state_t;

// Scratch is bounded by this, or by the least tile.
enum { MOST_TAPS = 4608, LEAST_TILE = 8, MOST_TILE = 32 }; // elements
enum { MOST_INNER = 1 << 20 };                             // terms of a sum

// Copies what lies under the taps of `count` outputs of one row from column `at` on.
// Lengths are read once: to the compiler, stores of floats could change them.
static void gather_row(const state_t *s, const float *x, int32_t row, int32_t at,
                       int32_t count, float *to) {
    const ember_axis_t height = s->height;
    const int32_t width = s->width.in;
    const int32_t taps = s->width.kernel;
    const ptrdiff_t step = (ptrdiff_t)taps * s->tile;
    const int32_t top = row * height.stride - height.padding;

    for (int32_t kx = 0; kx < taps; kx++) {
        const ember_line_t line = ember_line(&s->width, at, kx, count);
        const float *plane = x;
        float *tap = to + (ptrdiff_t)kx * s->tile;
        for (int32_t c = s->channels; c > 0; c--) {
            int32_t y = top;
            for (int32_t ky = height.kernel; ky > 0; ky--) {
                if (y >= 0 && y < height.in) {
                    ember_line_copy(line, tap, plane + y * width);
                } else {
                    ember_line_zeros(tap, count);
                }
                tap += step;
                y += height.dilation;
            }
            plane += (ptrdiff_t)height.in * width;
        }
    }
}

// All outputs of one batch and group; `gemm` has the weights and the bias.
static void run_group(const state_t *s, const float *x, float *y,
                      ember_gemm_f32_t *gemm) {
    const int32_t part = s->width.out < s->tile ? s->width.out : s->tile;

    const int32_t most = s->tile / part;

    for (int32_t row = 0; row < s->height.out; row += most) {
        const int32_t left = s->height.out - row;
        const int32_t rows = left < most ? left : most;
        for (int32_t at = 0; at < s->width.out; at += part) {
            const int32_t rest = s->width.out - at;
            const int32_t count = rest < part ? rest : part;
            for (int32_t r = 0; r < rows; r++) {
                gather_row(s, x, row + r, at, count, s->taps + r * count);
            }
            gemm->c = y + (ptrdiff_t)row * s->width.out + at;
            gemm->columns = rows * count;
            ember_gemm_f32_rows_mve(gemm);
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    if (s->batches == 0) { // sizes may be anything
        return EMBER_OK;
    }
    const int32_t plane = s->height.out * s->width.out;
    const int32_t inner = s->channels * s->height.kernel * s->width.kernel;
    const ptrdiff_t x_group = (ptrdiff_t)s->channels * s->height.in * s->width.in;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t g = 0; g < s->groups; g++) {
            const ptrdiff_t at = (ptrdiff_t)n * s->groups + g;
            const ptrdiff_t filter = (ptrdiff_t)g * s->filters;
            const float *x = s->x + at * x_group;
            float *y = s->y + at * s->filters * plane;
            const bool direct = s->taps == NULL;
            ember_gemm_f32_t gemm = {
                .a = s->w + filter * inner,
                .b = direct ? x : s->taps,
                .bias = s->bias == NULL ? NULL : s->bias + filter,
                .c = y,
                .rows = s->filters,
                .inner = inner,
                .columns = plane,
                .a_stride = inner,
                .b_stride = direct ? plane : s->tile,
                .c_stride = plane,
                .bias_row = 1,
                .alpha = 1.0f,
                .beta = 1.0f,
            };
            if (direct) {
                ember_gemm_f32_rows_mve(&gemm);
            } else {
                run_group(s, x, y, &gemm);
            }
        }
    }
    return EMBER_OK;
}

static bool is_pointwise(const ember_axis_t *axis) {
    return axis->kernel == 1 && axis->stride == 1 && axis->padding == 0;
}

// The tile: as many outputs as scratch is meant for, in whole rows if there is room
// for more than one.
static void set_tile(state_t *s, int32_t inner) {
    int32_t most = MOST_TAPS / inner & ~3;
    most = most < LEAST_TILE ? LEAST_TILE : most;
    most = most > MOST_TILE ? MOST_TILE : most;
    s->tile = most;
    if (s->width.out < most) {
        const int32_t fit = most / s->width.out;
        const int32_t rows = fit < s->height.out ? fit : s->height.out;
        s->tile = (rows * s->width.out + 3) & ~3;
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_conv_t conv;
    const ember_status_t status = ember_conv_args(&conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (!ember_conv_is_2d_f32(&conv) || !conv.planes) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution_f32_mve: layout");
    }
    s->x = (const void *)conv.x.data;
    s->w = (const void *)conv.w.data;
    s->bias = (const void *)conv.bias;
    s->y = (void *)conv.y.data;
    s->taps = NULL;
    s->batches = conv.batches;
    s->groups = conv.groups;
    s->channels = conv.channels;
    s->filters = conv.filters;
    s->height = ember_axis_of(&conv, 1);
    s->width = ember_axis_of(&conv, 2);
    if (s->batches == 0 || (is_pointwise(&s->height) && is_pointwise(&s->width))) {
        return EMBER_OK;
    }
    // Weights exist, so this fits an int32_t.
    const int32_t inner = s->channels * s->height.kernel * s->width.kernel;
    if (inner > MOST_INNER) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution_f32_mve: scratch");
    }
    set_tile(s, inner);
    s->taps = ember_node_scratch(node, (size_t)inner * (size_t)s->tile * sizeof(float));
    return ember_node_status(node);
}

EMBER_KERNEL(convolution_f32_mve, state_t);
