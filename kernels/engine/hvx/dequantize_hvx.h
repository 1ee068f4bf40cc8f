// SPDX-License-Identifier: Apache-2.0
// int8, or uint8, to float32 with HVX, in integer arithmetic, 128 elements at a time:
//
//     y[i] = (x[i] - zero_point) * scale
#ifndef EMBER_KERNELS_ENGINE_HVX_DEQUANTIZE_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_DEQUANTIZE_HVX_H

#include "ember/node.h"

// Whether a scale is supported.
static inline bool ember_dequantize_hvx_takes(float scale) {
    return scale >= 0x1p-126f && scale <= 0x1p118f; // a product is finite
}

// `zero_point` is in the range of x; `count` is below 2^31.
void ember_dequantize_s8_hvx(const int8_t *x, uint32_t count, float scale,
                             int32_t zero_point, float *y);
void ember_dequantize_u8_hvx(const uint8_t *x, uint32_t count, float scale,
                             int32_t zero_point, float *y);

#endif // EMBER_KERNELS_ENGINE_HVX_DEQUANTIZE_HVX_H
