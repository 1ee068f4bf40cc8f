// SPDX-License-Identifier: Apache-2.0
#include "kernels/convolution/tiles.h"

enum { MOST_INNER = 1 << 20, PART = 6 }; // terms of a sum

// All outputs of one batch and group; `gemm` has the weights and the bias.
static void run_group(const ember_conv_tiles_t *s, const float *x, float *y,
                      ember_gemm_f32_t *gemm, ember_tiles_gather_fn gather,
                      ember_gemm_f32_fn product) {
    const int32_t part = s->width.out < s->tile ? s->width.out : s->tile;

    const int32_t most = s->tile / part;

    for (int32_t row = 0; row < s->height.out; row += most) {
        const int32_t left = s->height.out - row;
        const int32_t rows = left < most ? left : most;
        for (int32_t at = 0; at < s->width.out; at += part) {
            const int32_t rest = s->width.out - at;
            const int32_t count = rest < part ? rest : part;
            for (int32_t r = 0; r < rows; r++) {
                gather(s, x, row + r, at, count, s->taps + r * count);
            }
            gemm->c = y + (ptrdiff_t)row * s->width.out + at;
            gemm->columns = rows * count;
            product(gemm);
        }
    }
}

void ember_conv_tiles_run(const ember_conv_tiles_t *s, ember_tiles_gather_fn gather,
                          ember_gemm_f32_fn product) {
    if (s->batches == 0) { // sizes may be anything
        return;
    }
    const int32_t plane = s->height.out * s->width.out;
    const int32_t inner = s->channels * s->height.kernel * s->width.kernel;
    const ptrdiff_t x_group = s->channels * s->x_plane;

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
                product(&gemm);
            } else {
                run_group(s, x, y, &gemm, gather, product);
            }
        }
    }
}

static bool is_pointwise(const ember_axis_t *axis) {
    return axis->kernel == 1 && axis->stride == 1 && axis->padding == 0;
}

// Elements that scratch may have: a part of the images', within the limits. Rows of an
// image that lie apart are a part of a larger one already.
static int32_t room_of(const ember_conv_tiles_t *s, const ember_tile_sizes_t *sizes,
                       bool apart) {
    const int64_t x = (int64_t)s->channels * s->height.in * s->width.in;
    const int64_t y = (int64_t)s->filters * s->height.out * s->width.out;
    if (apart || x + y >= (int64_t)sizes->most_taps * PART) {
        return sizes->most_taps;
    }
    const int32_t part = (int32_t)(x + y) / PART; // 32 bits: no library division
    return part < sizes->taps ? sizes->taps : part;
}

// The tile: as many outputs as scratch should hold, in whole rows if there is room for
// more than one.
static void set_tile(ember_conv_tiles_t *s, int32_t inner,
                     const ember_tile_sizes_t *sizes, bool apart) {
    int32_t most = room_of(s, sizes, apart) / inner & ~3;
    most = most < sizes->least ? sizes->least : most;
    most = most > sizes->most ? sizes->most : most;
    s->tile = most;
    if (s->width.out < most) {
        const int32_t fit = most / s->width.out;
        const int32_t rows = fit < s->height.out ? fit : s->height.out;
        s->tile = (rows * s->width.out + 3) & ~3;
    }
}

ember_status_t ember_conv_tiles_prepare(ember_conv_tiles_t *s, ember_node_t *node,
                                        const ember_tile_sizes_t *sizes) {
    ember_conv_t conv;
    const ember_status_t status = ember_conv_args(&conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (!ember_conv_is_2d_f32(&conv) || !conv.lines) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: layout");
    }
    s->x = (const void *)conv.x.data;
    s->w = (const void *)conv.w.data;
    s->bias = (const void *)conv.bias;
    s->y = (void *)conv.y.data;
    s->taps = NULL;
    s->x_plane = ember_axis_plane(&conv);
    s->batches = conv.batches;
    s->groups = conv.groups;
    s->channels = conv.channels;
    s->filters = conv.filters;
    s->height = ember_axis_of(&conv, 1);
    s->width = ember_axis_of(&conv, 2);
    const bool points = is_pointwise(&s->height) && is_pointwise(&s->width);
    if (s->batches == 0 || (points && conv.planes)) {
        return EMBER_OK;
    }
    // Weights exist, so this fits an int32_t.
    const int32_t inner = s->channels * s->height.kernel * s->width.kernel;
    if (inner > MOST_INNER) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: scratch");
    }
    set_tile(s, inner, sizes, !conv.planes);
    s->taps = ember_node_scratch(node, (size_t)inner * (size_t)s->tile * sizeof(float));
    return ember_node_status(node);
}
