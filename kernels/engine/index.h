// SPDX-License-Identifier: Apache-2.0
// Reading indices from tensor data, and adding elements in place.
#ifndef EMBER_KERNELS_ENGINE_INDEX_H
#define EMBER_KERNELS_ENGINE_INDEX_H

#include "kernels/engine/element.h"

// Whether tensors of this dtype can be indices: int32 or int64.
bool ember_is_index_dtype(uint32_t dtype);

// The index at `data`; -1 when it is not in [0, size). With `wrap`, negative ones
// count from the end.
int32_t ember_index_read(const void *data, uint32_t dtype, int32_t size, bool wrap);

// *dst += *src, `count` dense elements of `dtype`.
void ember_elements_add(void *dst, const void *src, uint32_t dtype, uint32_t count);

#endif // EMBER_KERNELS_ENGINE_INDEX_H
