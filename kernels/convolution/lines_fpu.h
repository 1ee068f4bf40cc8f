// SPDX-License-Identifier: Apache-2.0
// Lines of an image copied with zeros around it, four elements at a time.
#ifndef EMBER_KERNELS_CONVOLUTION_LINES_FPU_H
#define EMBER_KERNELS_CONVOLUTION_LINES_FPU_H

#include <arm_fpu.h>
#include <stddef.h>

#include "kernels/convolution/lines.h"

enum { FOUR_ELEMENTS = 4 };

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
    const ptrdiff_t stride = line.stride;
    for (; left >= FOUR_ELEMENTS; left -= FOUR_ELEMENTS) {
        const float a = from[0], b = from[stride];
        from += 2 * stride;
        const float c = from[0], d = from[stride];
        from += 2 * stride;
        to[0] = a;
        to[1] = b;
        to[2] = c;
        to[3] = d;
        to += FOUR_ELEMENTS;
    }
    for (; left > 0; left--) {
        *to++ = *from;
        from += stride;
    }
}

#endif // EMBER_KERNELS_CONVOLUTION_LINES_FPU_H
