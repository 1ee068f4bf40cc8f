// SPDX-License-Identifier: Apache-2.0
// Rows of an int8 image with their padding, with HVX.
#ifndef EMBER_KERNELS_ENGINE_HVX_PADDED_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_PADDED_HVX_H

#include "kernels/engine/hvx/scale_hvx.h"
#include "kernels/engine/int8/conv_s8.h"

// Elements of an axis with its padding, as far as windows reach.
static inline int64_t ember_reach_s8(const ember_conv_s8_axis_t *axis) {
    return (int64_t)(axis->out - 1) * axis->stride +
           (int64_t)(axis->kernel - 1) * axis->dilation + 1;
}

// Fills `count` bytes and returns their end. Clobbers up to a vector of bytes after it.
static inline int8_t *ember_fill_hvx(int8_t *to, HVX_Vector with, int64_t count) {
    for (int64_t i = 0; i < count; i += EMBER_HVX) {
        ember_hvx_store_any(to + i, with);
    }
    return to + count;
}

// Copies likewise; `from` is only read up to `count`.
static inline int8_t *ember_copy_hvx(int8_t *to, const int8_t *from, int64_t count) {
    int64_t i = 0;
    for (; i + EMBER_HVX <= count; i += EMBER_HVX) {
        ember_hvx_store_any(to + i, ember_hvx_load_any(from + i));
    }
    if (i < count) {
        ember_hvx_store_any(to + i,
                            ember_hvx_load_part(from + i, (int32_t)(count - i)));
    }
    return to + count;
}

// A row of `channels` per pixel, as far as windows of the axis reach, with `padding`
// outside x. x: (axis->in, channels), or NULL for a row of padding only. Clobbers up to
// a vector of bytes after the row.
static inline void ember_padded_row_hvx(const ember_conv_s8_axis_t *axis,
                                        int32_t channels, int8_t padding,
                                        const int8_t *x, int8_t *to) {
    const HVX_Vector with = Q6_Vb_vsplat_R(padding);
    const int64_t all = ember_reach_s8(axis) * channels;
    const int64_t before = (int64_t)axis->padding * channels;
    const int64_t in = (int64_t)axis->in * channels;

    if (x == NULL || before >= all) {
        (void)ember_fill_hvx(to, with, all);
        return;
    }
    const int64_t inside = in < all - before ? in : all - before;
    to = ember_copy_hvx(ember_fill_hvx(to, with, before), x, inside);
    (void)ember_fill_hvx(to, with, all - before - inside);
}

#endif // EMBER_KERNELS_ENGINE_HVX_PADDED_HVX_H
