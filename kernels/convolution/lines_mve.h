// SPDX-License-Identifier: Apache-2.0
// Lines of an image copied with zeros around it, with Helium.
#ifndef EMBER_KERNELS_CONVOLUTION_LINES_MVE_H
#define EMBER_KERNELS_CONVOLUTION_LINES_MVE_H

#include <arm_mve.h>
#include <stddef.h>

#include "kernels/convolution/lines.h"

enum { EMBER_LINE_LANES = 4 };

// By predicates: the areas cleared here are shorter than a call of memset.
static inline void ember_line_zeros(float *to, int32_t count) {
    for (; count > 0; count -= EMBER_LINE_LANES) {
        vstrwq_p_f32(to, vdupq_n_f32(0.0f), vctp32q((uint32_t)count));
        to += EMBER_LINE_LANES;
    }
}

// Copies the line out of a row of the image.
static inline void ember_line_copy(ember_line_t line, float *to, const float *row) {
    const float *from = row + line.first;

    if (line.before > 0) {
        ember_line_zeros(to, line.before);
        to += line.before;
    }
    if (line.after > 0) {
        ember_line_zeros(to + line.count, line.after);
    }
    if (line.stride == 1) {
        for (int32_t left = line.count; left > 0; left -= EMBER_LINE_LANES) {
            const mve_pred16_t lanes = vctp32q((uint32_t)left);
            vstrwq_p_f32(to, vldrwq_z_f32(from, lanes), lanes);
            from += EMBER_LINE_LANES;
            to += EMBER_LINE_LANES;
        }
        return;
    }
    const uint32_t next = (uint32_t)(EMBER_LINE_LANES * line.stride);
    uint32x4_t at = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)line.stride);
    for (int32_t left = line.count; left > 0; left -= EMBER_LINE_LANES) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        vstrwq_p_f32(to, vldrwq_gather_shifted_offset_z_f32(from, at, lanes), lanes);
        at = vaddq_n_u32(at, next);
        to += EMBER_LINE_LANES;
    }
}

#endif // EMBER_KERNELS_CONVOLUTION_LINES_MVE_H
