// SPDX-License-Identifier: Apache-2.0
// Lines of an image copied with zeros around it, four elements at a time.
#ifndef EMBER_KERNELS_CONVOLUTION_LINES_FPU_H
#define EMBER_KERNELS_CONVOLUTION_LINES_FPU_H

#include <arm_fpu.h>
#include <stddef.h>

#include "kernels/convolution/lines.h"

static inline void ember_line_zeros(float *to, int32_t count) {
    for (; count > 0; count--) {
        *to++ = 0.0f;
    }
}

// Copies the line out of a row of the image.
static inline void ember_line_copy(ember_line_t line, float *to, const float *row) {
    const float *from = row + line.first;
    int32_t left = line.count;

    if (line.before > 0) {
        ember_line_zeros(to, line.before);
        to += line.before;
    }
    if (line.after > 0) {
        ember_line_zeros(to + left, line.after);
    }
    if (line.stride == 1) {
        ember_fpu_copy(to, from, left);
        return;
    }
    for (; left > 0; left--) {
        *to++ = *from;
        from += line.stride;
    }
}

#endif // EMBER_KERNELS_CONVOLUTION_LINES_FPU_H
