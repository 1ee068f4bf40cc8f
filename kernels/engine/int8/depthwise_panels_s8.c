// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions with packed weights. Contract: depthwise_panels_s8.h.
#include "kernels/engine/int8/depthwise_panels_s8.h"

#include <stddef.h>
#include <string.h>

#include "kernels/engine/int8/panels_s8.h"

enum { PANELS = 1, DILATION = 5, PERIOD = 10, SHARING, OUT };
enum { VECTOR = 128, LANES = 32, WORD = 4 };
enum { BIAS, MULTIPLIER, SHIFT, NUMBERS = 5 }; // vectors of numbers
enum { LIMIT = 1 << 24 };

// --- layout --------------------------------------------------------------------------

static int64_t weights_bytes(const ember_depthwise_panels_s8_t *s) {
    const int64_t groups = (s->conv.height.kernel + WORD - 1) / WORD;
    return s->sharing * groups * s->conv.width.kernel * s->period * WORD;
}

static int32_t number_of(const ember_depthwise_panels_s8_t *s, int32_t channel,
                         int32_t kind) {
    const ptrdiff_t vector = (ptrdiff_t)(channel / LANES) * NUMBERS + kind;
    const uint8_t *at = s->numbers + vector * VECTOR;
    int32_t number;
    memcpy(&number, at + channel % LANES * WORD, sizeof(number));
    return number;
}

static int32_t weight_of(const ember_depthwise_panels_s8_t *s, int32_t channel,
                         int32_t y, int32_t x) {
    const ptrdiff_t tap = (ptrdiff_t)(y / WORD) * s->conv.width.kernel + x;
    return (int8_t)s->panels[(tap * s->period + channel) * WORD + y % WORD];
}

// --- arguments -----------------------------------------------------------------------

static uint8_t rows_of(const ember_depthwise_panels_s8_t *s) {
    uint8_t rows = EMBER_ROWS_SHIFT;

    for (int32_t c = 0; c < s->conv.channels; c++) {
        const int32_t multiplier = number_of(s, c, MULTIPLIER);
        rows = ember_panels_s8_rows(rows, multiplier, number_of(s, c, SHIFT));
    }
    return rows;
}

// Whether weights repeat as rows of outputs need them.
static bool is_period(const ember_depthwise_panels_s8_t *s) {
    const ember_conv_s8_t *conv = &s->conv;
    const int64_t row = (int64_t)conv->width.out * conv->channels;
    const bool whole = s->period % conv->channels == 0;

    return s->period % VECTOR == 0 && s->period >= conv->channels &&
           (whole || s->period >= row);
}

static bool may_share(const ember_conv_s8_axis_t *height) {
    return height->kernel < WORD && height->stride == 1 && height->dilation == 1;
}

static ember_status_t read_panels(ember_depthwise_panels_s8_t *s, ember_node_t *node) {
    ember_tensor_t panels;

    ember_node_tensor(node, PANELS, &panels);
    s->period = ember_node_int_in(node, PERIOD, 1, LIMIT);
    s->sharing = ember_node_int_in(node, SHARING, 1, 2);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const int64_t bytes =
        weights_bytes(s) + (int64_t)(s->period / LANES) * NUMBERS * VECTOR;
    if (!is_period(s) || (s->sharing > 1 && !may_share(&s->conv.height)) ||
        !ember_panels_s8_are(&panels, bytes)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "ember: panels of another size");
    }
    s->panels = panels.data;
    s->numbers = s->panels + weights_bytes(s);
    if (s->conv.rows != EMBER_ROWS_REAL) {
        s->conv.rows = rows_of(s);
    }
    if (s->conv.rows == EMBER_ROWS_ANY) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "ember: scales in panels");
    }
    return EMBER_OK;
}

ember_status_t ember_depthwise_panels_s8_weights(ember_depthwise_panels_s8_t *s,
                                                 ember_node_t *node) {
    static const ember_conv_s8_places_t places = {.dilation = DILATION};
    ember_conv_s8_t *conv = &s->conv;

    conv->depth = 1;
    if (!ember_panels_s8_kernel(conv, node) || conv->filters != conv->channels ||
        !ember_conv_s8_geometry(conv, node, &places)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "ember: sizes or parameters do not fit");
    }
    return read_panels(s, node);
}

uint32_t ember_depthwise_panels_s8_steps(const ember_depthwise_panels_s8_t *s) {
    return (uint32_t)(s->conv.filters * ember_conv_s8_taps(&s->conv));
}

ember_status_t ember_depthwise_panels_s8_args(ember_depthwise_panels_s8_t *s,
                                              ember_node_t *node) {
    if (ember_panels_s8_image(&s->conv, node) != EMBER_OK ||
        ember_depthwise_panels_s8_weights(s, node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return ember_panels_s8_output(&s->conv, node, OUT,
                                  ember_depthwise_panels_s8_steps(s));
}

// --- run -----------------------------------------------------------------------------

int32_t ember_depthwise_panels_s8_sum(const void *panels, const int8_t *x, int32_t oy,
                                      int32_t ox, int32_t channel) {
    const ember_depthwise_panels_s8_t *s = panels;
    const ember_conv_s8_t *conv = &s->conv;
    const ember_conv_s8_axis_t *h = &conv->height, *w = &conv->width;
    uint32_t sum = (uint32_t)number_of(s, channel, BIAS);

    for (int32_t ky = 0; ky < h->kernel; ky++) {
        const int32_t y = oy * h->stride - h->padding + ky * h->dilation;
        for (int32_t kx = 0; kx < w->kernel; kx++) {
            const int32_t at = ox * w->stride - w->padding + kx * w->dilation;
            const bool inside = y >= 0 && y < h->in && at >= 0 && at < w->in;
            const ptrdiff_t pixel = (ptrdiff_t)y * w->in + at;
            const int32_t element =
                inside ? x[pixel * conv->channels + channel] : -conv->x_offset;
            sum += (uint32_t)(element * weight_of(s, channel, ky, kx));
        }
    }
    return (int32_t)sum;
}

static int8_t output_of(const ember_depthwise_panels_s8_t *s, const int8_t *x,
                        int32_t oy, int32_t ox, int32_t channel) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t sum = ember_depthwise_panels_s8_sum(s, x, oy, ox, channel);
    const ember_requantize_t by = {number_of(s, channel, MULTIPLIER),
                                   number_of(s, channel, SHIFT)};
    return ember_requantize_s8(sum, by, conv->scales.zero_point, conv->scales.limits);
}

void ember_depthwise_panels_s8_run(const ember_depthwise_panels_s8_t *s) {
    const ember_conv_s8_t *conv = &s->conv;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;

    for (int32_t n = 0; n < conv->batches; n++) {
        for (int32_t oy = 0; oy < conv->height.out; oy++) {
            for (int32_t ox = 0; ox < conv->width.out; ox++) {
                for (int32_t c = 0; c < conv->channels; c++) {
                    *y++ = output_of(s, x, oy, ox, c);
                }
            }
        }
        x += (ptrdiff_t)conv->height.in * conv->width.in * conv->channels;
    }
}
