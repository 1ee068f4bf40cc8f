// SPDX-License-Identifier: Apache-2.0
// Rows of a within [b, c]; NaN stays; c wins over b.
#ifndef EMBER_KERNELS_ELEMENTWISE_CLAMP_H
#define EMBER_KERNELS_ELEMENTWISE_CLAMP_H

#include "kernels/engine/map.h"

void ember_clamp_row_f32(void *y, const void *const *x, uint32_t count);
void ember_clamp_row_f64(void *y, const void *const *x, uint32_t count);
void ember_clamp_row_s64(void *y, const void *const *x, uint32_t count);

#endif // EMBER_KERNELS_ELEMENTWISE_CLAMP_H
