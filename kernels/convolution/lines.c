// SPDX-License-Identifier: Apache-2.0
#include "kernels/convolution/lines.h"

// Outputs of [0, outputs) whose tap, `first` for the first one, is before `end`.
static int32_t below(int32_t end, int32_t first, int32_t stride, int32_t outputs) {
    const int32_t distance = end - first;
    int32_t count = distance;

    if (stride > 1 && distance > 0) {
        count = (distance - 1) / stride + 1;
    }
    count = count < 0 ? 0 : count;
    return count < outputs ? count : outputs;
}

ember_line_t ember_line(const ember_axis_t *axis, int32_t at, int32_t tap,
                        int32_t outputs) {
    const int32_t first = at * axis->stride - axis->padding + tap * axis->dilation;
    const int32_t before = below(0, first, axis->stride, outputs);
    const int32_t past = below(axis->in, first, axis->stride, outputs);

    return (ember_line_t){
        .before = before,
        .count = past - before,
        .after = outputs - past,
        .first = first + before * axis->stride,
        .stride = axis->stride,
    };
}
