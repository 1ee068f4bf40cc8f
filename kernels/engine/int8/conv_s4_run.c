// SPDX-License-Identifier: Apache-2.0
// Layers with weights of int4 in plain C: one filter after the other. Contract:
// conv_s4.h.
#include "kernels/engine/int8/conv_s4.h"
#include "kernels/engine/int8/conv_s8_windows.h"

// The outputs of filter `f`, whose weights are widened.
static void run_filter(const ember_conv_s8_t *s, const int8_t *w, int32_t f) {
    const int32_t pitch = s->width.in * s->depth;
    const int8_t *x = s->x;
    int8_t *y = s->y + f;
    window_t at = {
        .row = s->height.dilation * pitch,
        .column = s->width.dilation * s->depth,
    };

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t oy = 0; oy < s->height.out; oy++) {
            at.height = ember_taps_s8(&s->height, oy);
            const int32_t row = oy * s->height.stride - s->height.padding +
                                at.height.first * s->height.dilation;
            for (int32_t ox = 0; ox < s->width.out; ox++) {
                at.width = ember_taps_s8(&s->width, ox);
                const int32_t column = ox * s->width.stride - s->width.padding +
                                       at.width.first * s->width.dilation;
                const int8_t *from =
                    x + (ptrdiff_t)row * pitch + (ptrdiff_t)column * s->depth;
                *y = ember_scaled_s8(&s->scales, f,
                                     sum_window(s, &at, from, w, s->depth));
                y += s->filters;
            }
        }
        x += (ptrdiff_t)s->height.in * pitch;
    }
}

void ember_conv_s4_run(const ember_conv_s4_t *s) {
    const ember_weights_s4_t *weights = &s->weights;
    const int8_t *row = weights->rows;

    for (int32_t f = 0; f < s->conv.filters; f++) {
        ember_widen_s4(weights->tile, row, weights->inner);
        run_filter(&s->conv, weights->tile, f);
        row += weights->pitch;
    }
}

ember_status_t ember_conv_s4_prepare(ember_conv_s4_t *s, ember_node_t *node) {
    s->weights = ember_weights_s4(&s->conv, 1);
    s->weights.tile = ember_node_scratch(node, (size_t)s->weights.inner);
    return ember_node_status(node);
}
