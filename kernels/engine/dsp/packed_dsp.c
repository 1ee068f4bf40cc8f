// SPDX-License-Identifier: Apache-2.0
// Convolutions with packed weights. Contract: packed_dsp.h.
#include "kernels/engine/dsp/packed_dsp.h"

#include "kernels/engine/dsp/products_dsp.h"
#include "kernels/engine/int8/packed_s8.h"

enum { FOUR = EMBER_PACKED_FOUR, COLUMNS = EMBER_PACKED_COLUMNS, PAIR = 2 };

void ember_packed_dsp_begin(const ember_packed_dsp_t *s) {
    const int32_t *bias = s->conv.scales.bias;

    for (int32_t f = 0; f < s->conv.filters; f += PAIR) {
        int32_t *of = s->by[f / FOUR].bias + f % FOUR;
        const int32_t first = bias == NULL ? 0 : bias[f];
        const int32_t second = bias == NULL ? 0 : bias[f + 1];
        of[0] = (int32_t)((uint32_t)first + ((uint32_t)second << 8));
        of[1] = second;
    }
}

// Scratch: words, what scales the filters, copies.
SMALL static void set_scratch(ember_packed_dsp_t *s, ember_node_t *node) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t size = conv->height.kernel * s->fours * FOUR;
    const int32_t words = size * COLUMNS * (int32_t)sizeof(int16_t);
    const int32_t by = conv->filters / FOUR * (int32_t)sizeof(*s->by);
    const int32_t copies = ember_packed_dsp_is_flat(conv) ? 0 : COLUMNS * size;
    int8_t *scratch = ember_node_scratch(node, (size_t)(words + by + copies));

    if (scratch != NULL) {
        s->words = (uint32_t *)(void *)scratch;
        s->by = (ember_quad_dsp_t *)(void *)(scratch + words);
        s->copies = scratch + words + by;
    }
}

ember_status_t ember_packed_dsp_prepare(ember_packed_dsp_t *s, ember_node_t *node) {
    const ember_conv_s8_t *conv = &s->conv;
    const int64_t inner = (int64_t)conv->height.kernel * s->fours * FOUR;

    if (conv->x_offset < -INT8_MAX || !ember_scales_fit_dsp(conv, inner) ||
        (conv->over && !ember_packed_dsp_is_flat(conv))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: not supported with DSP");
    }
    set_scratch(s, node);
    return ember_node_status(node);
}
