// SPDX-License-Identifier: Apache-2.0
#include "kernels/convolution/bands.h"

enum { MOST_BAND = 2048, MOST_SCRATCH = 1 << 20 }; // elements

// Rows of the image under `outputs` rows of outputs.
static int32_t rows_under(const ember_axis_t *height, int32_t outputs) {
    return (outputs - 1) * height->stride + (height->kernel - 1) * height->dilation + 1;
}

// `rows` rows of the outputs of one filter.
static void run_band(const ember_conv_bands_t *s, ember_bands_row_fn row,
                     const float *w, float bias, float *y, int32_t rows) {
    const float *from = s->band;

    for (; rows > 0; rows--) {
        row(s, from, w, bias, y);
        from += (ptrdiff_t)s->height.stride * s->pitch;
        y += s->width.out;
    }
}

// Copies the rows of the image that the outputs [first, first + rows) need; the columns
// beside them are zeros already.
static void fill_band(const ember_conv_bands_t *s, const ember_bands_parts_t *parts,
                      ember_line_t line, const float *x, int32_t first, int32_t rows) {
    int32_t at = first * s->height.stride - s->height.padding;
    float *to = s->band;

    for (int32_t left = rows_under(&s->height, rows); left > 0; left--) {
        if (at >= 0 && at < s->height.in) {
            parts->copy(line, to + s->width.padding, x + (ptrdiff_t)at * s->width.in);
        } else {
            parts->zeros(to, s->pitch);
        }
        to += s->pitch;
        at++;
    }
}

// All outputs of one channel of the image.
static void run_plane(const ember_conv_bands_t *s, const ember_bands_parts_t *parts,
                      ember_line_t line, const float *x, int32_t filter, float *y) {
    const ptrdiff_t plane = (ptrdiff_t)s->height.out * s->width.out;
    const ptrdiff_t taps = (ptrdiff_t)s->height.kernel * s->width.kernel;

    for (int32_t first = 0; first < s->height.out; first += s->rows) {
        const int32_t left = s->height.out - first;
        const int32_t rows = left < s->rows ? left : s->rows;
        fill_band(s, parts, line, x, first, rows);
        for (int32_t f = 0; f < s->filters; f++) {
            const float bias = s->bias == NULL ? 0.0f : s->bias[filter + f];
            run_band(s, parts->row, s->w + (filter + f) * taps, bias,
                     y + f * plane + (ptrdiff_t)first * s->width.out, rows);
        }
    }
}

void ember_conv_bands_run(const ember_conv_bands_t *s,
                          const ember_bands_parts_t *parts) {
    const ptrdiff_t x_plane = (ptrdiff_t)s->height.in * s->width.in;
    const ptrdiff_t y_plane = (ptrdiff_t)s->filters * s->height.out * s->width.out;

    // What a row of the band has of the image; columns beside it are cleared once.
    const int32_t room = s->pitch - s->width.padding;
    const int32_t count = room < s->width.in ? room : s->width.in;
    const ember_line_t line = {.count = count, .stride = 1};

    parts->zeros(s->band, rows_under(&s->height, s->rows) * s->pitch);
    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t g = 0; g < s->groups; g++) {
            const ptrdiff_t at = (ptrdiff_t)n * s->groups + g;
            run_plane(s, parts, line, s->x + at * x_plane, g * s->filters,
                      s->y + at * y_plane);
        }
    }
}

// Chooses the band; false when even one row of outputs needs too much.
static bool set_band(ember_conv_bands_t *s) {
    const int64_t columns = ((int64_t)s->width.out + EMBER_BAND_STEP - 1) /
                                EMBER_BAND_STEP * EMBER_BAND_STEP -
                            1;
    const int64_t under = (int64_t)(s->height.kernel - 1) * s->height.dilation + 1;
    const int64_t pitch = columns * s->width.stride +
                          (int64_t)(s->width.kernel - 1) * s->width.dilation + 1;

    if (pitch < 1 || pitch > MOST_SCRATCH || under > MOST_SCRATCH ||
        pitch * under > MOST_SCRATCH) {
        return false;
    }
    s->pitch = (int32_t)pitch;
    const int32_t more = (MOST_BAND / s->pitch - (int32_t)under) / s->height.stride;
    s->rows = more > 0 ? 1 + more : 1;
    s->rows = s->rows < s->height.out ? s->rows : s->height.out;
    return true;
}

ember_status_t ember_conv_bands_prepare(ember_conv_bands_t *s, ember_node_t *node) {
    ember_conv_t conv;
    const ember_status_t status = ember_conv_args(&conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (!ember_conv_is_2d_f32(&conv) || !conv.planes || conv.channels != 1 ||
        conv.batches == 0 || (conv.groups == 1 && conv.filters >= 4)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: not depthwise");
    }
    s->x = (const void *)conv.x.data;
    s->w = (const void *)conv.w.data;
    s->bias = (const void *)conv.bias;
    s->y = (void *)conv.y.data;
    s->batches = conv.batches;
    s->groups = conv.groups;
    s->filters = conv.filters;
    s->height = ember_axis_of(&conv, 1);
    s->width = ember_axis_of(&conv, 2);
    if (!set_band(s)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: scratch");
    }
    // One more, for variants that read pairs.
    const size_t rows = (size_t)rows_under(&s->height, s->rows);
    const size_t elements = rows * (size_t)s->pitch + 1;
    s->band = ember_node_scratch(node, elements * sizeof(float));
    return ember_node_status(node);
}
