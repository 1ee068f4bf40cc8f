// SPDX-License-Identifier: Apache-2.0
// Indices from data. Contract: index.h.
#include "kernels/engine/index.h"

bool ember_is_index_dtype(uint32_t dtype) {
    return dtype == EMBER_S64 || dtype == EMBER_S32;
}

int32_t ember_index_read(const void *data, uint32_t dtype, int32_t size, bool wrap) {
    int64_t index =
        dtype == EMBER_S64 ? *(const int64_t *)data : *(const int32_t *)data;

    if (wrap && index < 0 && index >= -(int64_t)size) {
        index += size;
    }
    return index >= 0 && index < size ? (int32_t)index : -1;
}

static void add_one(void *dst, const void *src, uint32_t dtype) {
    const ember_class_t class = ember_class_of(dtype);
    ember_number_t a, b;

    ember_elements_load(class, &a, dtype, dst, 0, 1);
    ember_elements_load(class, &b, dtype, src, 0, 1);
    if (class == EMBER_CLASS_F32) {
        a.f32 += b.f32;
    } else if (class == EMBER_CLASS_F64) {
        a.f64 += b.f64;
    } else {
        a.s64 = (int64_t)((uint64_t)a.s64 + (uint64_t)b.s64);
    }
    ember_elements_store(class, &a, dtype, dst, 0, 1);
}

void ember_elements_add(void *dst, const void *src, uint32_t dtype, uint32_t count) {
    const uint32_t size = ember_dtype_size(dtype);

    for (uint32_t i = 0; i < count; i++) {
        add_one((char *)dst + i * size, (const char *)src + i * size, dtype);
    }
}
