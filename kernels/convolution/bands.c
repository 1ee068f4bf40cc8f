// SPDX-License-Identifier: Apache-2.0
#include "kernels/convolution/bands.h"

enum { MOST_BAND = 2048, MOST_SCRATCH = 1 << 20 }; // elements

// Chooses the band; false if even one row of outputs needs too much.
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

ember_status_t ember_conv_bands_prepare(ember_conv_bands_t *s, ember_node_t *node,
                                        ember_bands_turn_fn turn) {
    ember_conv_t conv;
    const ember_status_t status = ember_conv_args(&conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (!ember_conv_is_2d_f32(&conv) || !conv.lines || conv.channels != 1 ||
        conv.batches == 0 || (conv.groups == 1 && conv.filters >= 4)) {
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
    s->height = ember_axis_of(&conv, 1);
    s->width = ember_axis_of(&conv, 2);
    if (turn != NULL && turn(&s->height, &s->width)) {
        s->height = ember_axis_of(&conv, 2);
        s->width = ember_axis_of(&conv, 1);
    }
    if (!set_band(s)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: scratch");
    }
    // One more, for variants that read pairs.
    const size_t rows = (size_t)ember_bands_rows_under(&s->height, s->rows);
    const size_t elements = rows * (size_t)s->pitch + 1;
    s->band = ember_node_scratch(node, elements * sizeof(float));
    return ember_node_status(node);
}
