// SPDX-License-Identifier: Apache-2.0
// Lines of an image copied with zeros around it, with NEON.
#ifndef EMBER_KERNELS_CONVOLUTION_LINES_NEON_H
#define EMBER_KERNELS_CONVOLUTION_LINES_NEON_H

#include <arm_neon.h>
#include <stddef.h>

#include "kernels/convolution/lines.h"

enum { EMBER_LINE_LANES = 4 };

static inline void ember_line_zeros(float *to, int32_t count) {
    for (; count >= EMBER_LINE_LANES; count -= EMBER_LINE_LANES) {
        vst1q_f32(to, vdupq_n_f32(0.0f));
        to += EMBER_LINE_LANES;
    }
    for (; count > 0; count--) {
        *to++ = 0.0f;
    }
}

// Adjacent elements; the last four overlap others unless they end a vector.
static inline void ember_line_dense(float *to, const float *from, int32_t count) {
    if (count < EMBER_LINE_LANES) {
        for (; count > 0; count--) {
            *to++ = *from++;
        }
        return;
    }
    int32_t i = 0;
    for (; i + EMBER_LINE_LANES <= count; i += EMBER_LINE_LANES) {
        vst1q_f32(to + i, vld1q_f32(from + i));
    }
    i = count - EMBER_LINE_LANES;
    vst1q_f32(to + i, vld1q_f32(from + i));
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
        ember_line_dense(to, from, left);
        return;
    }
    if (line.stride == 2) { // both halves are read, so one more than is in the line
        for (; left > EMBER_LINE_LANES; left -= EMBER_LINE_LANES) {
            vst1q_f32(to, vld2q_f32(from).val[0]);
            from += 2 * EMBER_LINE_LANES;
            to += EMBER_LINE_LANES;
        }
    }
    for (; left > 0; left--) {
        *to++ = *from;
        from += line.stride;
    }
}

#endif // EMBER_KERNELS_CONVOLUTION_LINES_NEON_H
