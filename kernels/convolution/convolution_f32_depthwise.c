// SPDX-License-Identifier: Apache-2.0
// convolution_f32_depthwise: one input channel per group, contiguous planes; the
// rows of an image may lie anywhere.
//
// Outputs are computed four at a time along lines, if all their taps along the line are
// inside the image; the taps on the other axis are the same for a whole line. Lines are
// rows, or columns if rows have no room for four. Each output adds its taps line by
// line.
#include "kernels/convolution/axis.h"

#define INLINE static inline __attribute__((always_inline))

typedef struct {
    const float *x;    // (batches, groups, in_h, in_w), rows contiguous
    const float *w;    // (groups * filters, 1, kernel_h, kernel_w)
    const float *bias; // (groups * filters,) or NULL
    float *y;          // (batches, groups * filters, out_h, out_w)
    ptrdiff_t x_plane; // elements from channel to channel
    int32_t batches, groups, filters;
    ember_axis_t across; // from line to line
    ember_axis_t along;  // within a line
} state_t;

// A line of outputs and the lines of taps that it needs: the first one inside the image
// and in the kernel.
typedef struct {
    const float *x;
    const float *w;
    float *y;
    int32_t lines;    // of taps, inside the image
    ptrdiff_t x_line; // from one to the next, elements
    ptrdiff_t w_line;
    float bias;
} line_t;

static void one(const ember_axis_t *along, const line_t *line, int32_t at) {
    const ember_range_t taps = ember_axis_taps(along, at);
    const ptrdiff_t x_step = (ptrdiff_t)along->dilation * along->x_step;
    const ptrdiff_t w_step = along->w_step;
    const ptrdiff_t left = (ptrdiff_t)at * along->stride - along->padding;
    const float *x_line = line->x + (left * along->x_step + taps.first * x_step);
    const float *w_line = line->w + taps.first * w_step;
    float sum = 0.0f;

    for (int32_t k = line->lines; k > 0; k--) {
        const float *x = x_line;
        const float *w = w_line;
        for (int32_t t = taps.past - taps.first; t > 0; t--) {
            sum += *w * *x;
            x += x_step;
            w += w_step;
        }
        x_line += line->x_line;
        w_line += line->w_line;
    }
    line->y[(ptrdiff_t)at * along->y_step] = sum + line->bias;
}

INLINE void store_four(const ember_axis_t *along, const line_t *line, int32_t at,
                       const float *sums) {
    float *y = line->y + (ptrdiff_t)at * along->y_step;

#pragma GCC unroll 4
    for (int p = 0; p < 4; p++) {
        *y = sums[p] + line->bias;
        y += along->y_step;
    }
}

// Four neighbours with three adjacent taps, all inside: every element of the image is
// loaded once. `stride` is a constant, 1 or 2; in rows so are the steps.
INLINE void four_3(const ember_axis_t *along, const line_t *line, int32_t at,
                   int32_t stride, ptrdiff_t unit, ptrdiff_t w_step) {
    const float *x_line = line->x + ((ptrdiff_t)at * stride - along->padding) * unit;
    const float *w_line = line->w;
    float sums[4] = {0};

    for (int32_t k = line->lines; k > 0; k--) {
        const float *x = x_line;
        const float w[3] = {w_line[0], w_line[w_step], w_line[2 * w_step]};
        float v[9];
#pragma GCC unroll 9
        for (int i = 0; i < 3 * stride + 3; i++) {
            v[i] = *x;
            x += unit;
        }
#pragma GCC unroll 3
        for (int t = 0; t < 3; t++) {
#pragma GCC unroll 4
            for (int p = 0; p < 4; p++) {
                sums[p] += w[t] * v[p * stride + t];
            }
        }
        x_line += line->x_line;
        w_line += line->w_line;
    }
    store_four(along, line, at, sums);
}

// Four neighbours with all taps inside, for any kernel.
INLINE void four(const ember_axis_t *along, const line_t *line, int32_t at) {
    const ptrdiff_t step = (ptrdiff_t)along->stride * along->x_step;
    const ptrdiff_t x_tap = (ptrdiff_t)along->dilation * along->x_step;
    const ptrdiff_t left = (ptrdiff_t)at * along->stride - along->padding;
    const float *x_line = line->x + left * along->x_step;
    const float *w_line = line->w;
    float sums[4] = {0};

    for (int32_t k = line->lines; k > 0; k--) {
        const float *x = x_line;
        const float *w = w_line;
        for (int32_t t = along->kernel; t > 0; t--) {
#pragma GCC unroll 4
            for (int p = 0; p < 4; p++) {
                sums[p] += *w * x[p * step];
            }
            x += x_tap;
            w += along->w_step;
        }
        x_line += line->x_line;
        w_line += line->w_line;
    }
    store_four(along, line, at, sums);
}

// The inner outputs of a line, none or at least four; the last four may overlap others.
// `stride` is 0 for kernels that are not three wide.
INLINE void fours(const ember_axis_t *along, const line_t *line, ember_range_t inner,
                  int32_t stride, ptrdiff_t unit, ptrdiff_t w_step) {
    for (int32_t i = inner.first; i < inner.past; i += 4) {
        const int32_t at = i + 4 <= inner.past ? i : inner.past - 4;
        if (stride == 0) {
            four(along, line, at);
        } else {
            four_3(along, line, at, stride, unit, w_step);
        }
    }
}

static void run_line(const ember_axis_t *along, const line_t *line,
                     ember_range_t inner) {
    const bool three = along->kernel == 3 && along->dilation == 1;
    const bool row = ember_axis_is_row(along);

    if (three && along->stride == 1 && row) {
        fours(along, line, inner, 1, 1, 1);
    } else if (three && along->stride == 2 && row) {
        fours(along, line, inner, 2, 1, 1);
    } else if (three && along->stride == 1) {
        fours(along, line, inner, 1, along->x_step, along->w_step);
    } else {
        fours(along, line, inner, 0, 0, 0);
    }
}

static void run_plane(const state_t *s, const float *x, const float *w, float bias,
                      float *y) {
    const ember_axis_t *across = &s->across;
    ember_range_t inner = ember_axis_inner(&s->along);

    if (inner.past - inner.first < 4) {
        inner.past = inner.first;
    }
    for (int32_t at = 0; at < across->out; at++) {
        const ember_range_t taps = ember_axis_taps(across, at);
        const ptrdiff_t first = (ptrdiff_t)at * across->stride - across->padding +
                                (ptrdiff_t)taps.first * across->dilation;
        const line_t line = {
            .x = taps.first < taps.past ? x + first * across->x_step : x,
            .w = w + (ptrdiff_t)taps.first * across->w_step,
            .y = y + (ptrdiff_t)at * across->y_step,
            .lines = taps.past - taps.first,
            .x_line = (ptrdiff_t)across->dilation * across->x_step,
            .w_line = across->w_step,
            .bias = bias,
        };
        for (int32_t i = 0; i < inner.first; i++) {
            one(&s->along, &line, i);
        }
        run_line(&s->along, &line, inner);
        for (int32_t i = inner.past; i < s->along.out; i++) {
            one(&s->along, &line, i);
        }
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
    // A single group with many filters: the general kernel has larger blocks.
    if (!ember_conv_is_2d_f32(&conv) || !conv.lines || conv.channels != 1 ||
        (conv.groups == 1 && conv.filters >= 4)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: not depthwise");
    }
    s->x = (const void *)conv.x.data;
    s->w = (const void *)conv.w.data;
    s->bias = (const void *)conv.bias;
    s->y = (void *)conv.y.data;
    s->x_plane = ember_axis_plane(&conv);
    s->batches = conv.batches;
    s->groups = conv.groups;
    s->filters = conv.filters;
    s->across = ember_axis_of(&conv, 1);
    s->along = ember_axis_of(&conv, 2);
    if (inner_count(&s->along) < 4 && inner_count(&s->across) >= 4) {
        s->across = ember_axis_of(&conv, 2);
        s->along = ember_axis_of(&conv, 1);
    }
    return EMBER_OK;
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ptrdiff_t y_plane = (ptrdiff_t)s->across.out * s->along.out;
    const ptrdiff_t kernel = (ptrdiff_t)s->across.kernel * s->along.kernel;
    const int32_t filters = s->groups * s->filters;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t f = 0; f < filters; f++) {
            const ptrdiff_t group = (ptrdiff_t)n * s->groups + f / s->filters;
            run_plane(s, s->x + group * s->x_plane, s->w + f * kernel,
                      s->bias == NULL ? 0.0f : s->bias[f],
                      s->y + ((ptrdiff_t)n * filters + f) * y_plane);
        }
    }
    return EMBER_OK;
}

EMBER_KERNEL(convolution_f32_depthwise, state_t);
