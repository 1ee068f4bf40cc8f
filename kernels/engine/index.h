// SPDX-License-Identifier: Apache-2.0
// Reads indices from tensor data, and combines elements in place.
#ifndef EMBER_KERNELS_ENGINE_INDEX_H
#define EMBER_KERNELS_ENGINE_INDEX_H

#include "kernels/engine/element.h"

// Whether tensors of this dtype can be indices: int32 or int64.
bool ember_is_index_dtype(uint32_t dtype);

// The index at `data`; -1 if it is not in [0, size). With `wrap`, negative ones count
// from the end.
int32_t ember_index_read(const void *data, uint32_t dtype, int32_t size, bool wrap);

// The same inline, for loops over many.
static inline int32_t ember_index_at(const void *data, uint32_t dtype, int32_t size,
                                     bool wrap) {
    int64_t index =
        dtype == EMBER_S64 ? *(const int64_t *)data : *(const int32_t *)data;

    if (wrap && index < 0) {
        index += size;
    }
    return (uint64_t)index < (uint64_t)size ? (int32_t)index : -1;
}

typedef enum ember_combine {
    EMBER_COMBINE_ADD,
    EMBER_COMBINE_MULTIPLY,
    EMBER_COMBINE_MAX, // NaN wins
    EMBER_COMBINE_MIN,
} ember_combine_t;

// *dst = *dst and *src combined, `count` dense elements of `dtype`.
void ember_elements_combine(ember_combine_t how, void *dst, const void *src,
                            uint32_t dtype, uint32_t count);

static inline void ember_elements_add(void *dst, const void *src, uint32_t dtype,
                                      uint32_t count) {
    ember_elements_combine(EMBER_COMBINE_ADD, dst, src, dtype, count);
}

#endif // EMBER_KERNELS_ENGINE_INDEX_H
