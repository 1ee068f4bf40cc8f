// SPDX-License-Identifier: Apache-2.0
// Which depthwise convolutions are supported. Contract: depthwise_s8_dsp.h.
#include "kernels/cortex_m/depthwise_s8_dsp.h"

#include "kernels/cortex_m/products_dsp.h"

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
    s->by_line = (conv->rows != EMBER_ROWS_REAL || EMBER_LINES_REAL_DSP) &&
                 ember_lines_dsp_fit(conv);
    if (conv->over && (!s->by_line || conv->channels % FOUR != 0)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: an output lies over its input");
    }
    const int32_t size = s->by_line ? ember_lines_dsp_measure(&s->lines, conv)
                                    : s->taps * 2 * (int32_t)sizeof(uint32_t);
    s->weights = ember_node_scratch(node, (size_t)size);
    s->lines.words = s->weights;
    return ember_node_status(node);
}
