// SPDX-License-Identifier: Apache-2.0
// Which depthwise convolutions are supported. Contract: depthwise_s8_dsp.h.
#include "kernels/engine/dsp/depthwise_s8_dsp.h"

#include "kernels/engine/dsp/products_dsp.h"

enum { FOUR = 4, MOST_TAPS = 1 << 12 };

SMALL ember_status_t ember_depthwise_s8_dsp_prepare(ember_depthwise_s8_dsp_t *s,
                                                    ember_node_t *node) {
    const ember_conv_s8_t *conv = &s->conv;
    const int64_t taps = (int64_t)conv->height.kernel * conv->width.kernel;
    if (conv->filters != conv->channels || conv->channels < FOUR || taps > MOST_TAPS ||
        !ember_scales_fit_dsp(conv, taps)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: not supported with DSP");
    }
    s->taps = (int32_t)taps;
    const bool real = conv->rows == EMBER_ROWS_REAL;
    s->by_pixel = (!real || EMBER_PIXELS_REAL_DSP) && ember_pixels_dsp_fit(conv);
    s->by_line =
        (!real || EMBER_LINES_REAL_DSP) && !s->by_pixel && ember_lines_dsp_fit(conv);
    if (conv->over && (!s->by_line || conv->channels % FOUR != 0)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: an output lies over its input");
    }
    int32_t size = s->taps * 2 * (int32_t)sizeof(uint32_t);
    if (s->by_pixel) {
        size = ember_pixels_dsp_measure(&s->pixels, conv);
    } else if (s->by_line) {
        size = ember_lines_dsp_measure(&s->lines, conv);
    }
    s->weights = ember_node_scratch(node, (size_t)size);
    if (s->by_pixel) {
        s->pixels.words = s->weights;
    } else {
        s->lines.words = s->weights;
    }
    return ember_node_status(node);
}
