// SPDX-License-Identifier: Apache-2.0
// The range of float32 numbers with HVX, as integers in the same order.
#ifndef EMBER_KERNELS_ENGINE_HVX_EXTENT_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_EXTENT_HVX_H

#include <stdint.h>

// The least and the greatest of `count` numbers, at least 1, and 0; NaN if one is NaN.
void ember_extent_hvx(const float *x, uint32_t count, float *low, float *high);

#endif // EMBER_KERNELS_ENGINE_HVX_EXTENT_HVX_H
