// SPDX-License-Identifier: Apache-2.0
// One axis of a convolution of contiguous planes, for kernels that may walk along
// either axis of the image.
#ifndef EMBER_KERNELS_CONVOLUTION_AXIS_H
#define EMBER_KERNELS_CONVOLUTION_AXIS_H

#include "kernels/convolution/conv.h"

typedef struct ember_axis {
    int32_t in;
    int32_t out;
    int32_t kernel;
    int32_t stride;
    int32_t padding;
    int32_t dilation;
    int32_t x_step; // steps in elements
    int32_t w_step;
    int32_t y_step;
} ember_axis_t;

// Taps, or outputs, [first, past).
typedef struct ember_range {
    int32_t first;
    int32_t past;
} ember_range_t;

// Dimension `d` of a `conv` of float32: 1 is the height, 2 the width.
ember_axis_t ember_axis_of(const ember_conv_t *conv, uint32_t d);

// Elements from channel to channel of the image, and from group to group.
static inline ptrdiff_t ember_axis_plane(const ember_conv_t *conv) {
    return conv->x.inner / (ptrdiff_t)sizeof(float);
}

// Whether neighbours along the axis are adjacent in memory, in image and kernel: along
// the width they are, and along the height if both are one wide.
static inline bool ember_axis_is_row(const ember_axis_t *axis) {
    return axis->x_step == 1 && axis->w_step == 1;
}

// Outputs whose taps are all inside the image; first <= past <= out.
ember_range_t ember_axis_inner(const ember_axis_t *axis);

// Taps of output `out` that are inside the image; first <= past <= kernel.
static inline ember_range_t ember_axis_taps(const ember_axis_t *axis, int32_t out) {
    const int32_t at = out * axis->stride - axis->padding;
    ember_range_t taps = {at < 0 ? -at : 0, axis->in - at};

    if (axis->dilation != 1) {
        taps.first = (taps.first + axis->dilation - 1) / axis->dilation;
        taps.past = at < axis->in ? (taps.past - 1) / axis->dilation + 1 : 0;
    }
    taps.past = taps.past < axis->kernel ? taps.past : axis->kernel;
    taps.past = taps.past > 0 ? taps.past : 0;
    taps.first = taps.first < taps.past ? taps.first : taps.past;
    return taps;
}

#endif // EMBER_KERNELS_CONVOLUTION_AXIS_H
