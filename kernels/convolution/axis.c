// SPDX-License-Identifier: Apache-2.0
// One axis of a convolution. Contract: axis.h.
#include "kernels/convolution/axis.h"

ember_axis_t ember_axis_of(const ember_conv_t *conv, uint32_t d) {
    return (ember_axis_t){
        .in = conv->in[d],
        .out = conv->out[d],
        .kernel = conv->kernel[d],
        .stride = conv->stride[d],
        .padding = conv->padding[d],
        .dilation = conv->dilation[d],
        .x_step = d == 1 ? conv->x.space[1] / (int32_t)sizeof(float) : 1,
        .w_step = d == 1 ? conv->kernel[2] : 1,
        .y_step = d == 1 ? conv->out[2] : 1,
    };
}

ember_range_t ember_axis_inner(const ember_axis_t *axis) {
    const int32_t reach = (axis->kernel - 1) * axis->dilation;
    const int32_t last = axis->in - 1 - reach + axis->padding; // first tap + padding
    ember_range_t inner = {(axis->padding + axis->stride - 1) / axis->stride, 0};

    inner.first = inner.first < axis->out ? inner.first : axis->out;
    if (last >= 0) {
        inner.past = last / axis->stride + 1;
        inner.past = inner.past < axis->out ? inner.past : axis->out;
    }
    inner.past = inner.past > inner.first ? inner.past : inner.first;
    return inner;
}
