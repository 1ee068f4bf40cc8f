// SPDX-License-Identifier: Apache-2.0
// Indices from data. Contract: index.h.
#include "kernels/engine/index.h"

bool ember_is_index_dtype(uint32_t dtype) {
    return dtype == EMBER_S64 || dtype == EMBER_S32;
}

int32_t ember_index_read(const void *data, uint32_t dtype, int32_t size, bool wrap) {
    return ember_index_at(data, dtype, size, wrap);
}

static float combine_f32(ember_combine_t how, float a, float b) {
    switch (how) {
    case EMBER_COMBINE_ADD:
        return a + b;
    case EMBER_COMBINE_MULTIPLY:
        return a * b;
    default: // a NaN stays, or comes
        return b != b || (how == EMBER_COMBINE_MAX ? b > a : b < a) ? b : a;
    }
}

static double combine_f64(ember_combine_t how, double a, double b) {
    switch (how) {
    case EMBER_COMBINE_ADD:
        return a + b;
    case EMBER_COMBINE_MULTIPLY:
        return a * b;
    default:
        return b != b || (how == EMBER_COMBINE_MAX ? b > a : b < a) ? b : a;
    }
}

static int64_t combine_s64(ember_combine_t how, int64_t a, int64_t b) {
    switch (how) {
    case EMBER_COMBINE_ADD:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case EMBER_COMBINE_MULTIPLY:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    default:
        return (how == EMBER_COMBINE_MAX ? b > a : b < a) ? b : a;
    }
}

static void combine_one(ember_combine_t how, void *dst, const void *src,
                        uint32_t dtype) {
    const ember_class_t class = ember_class_of(dtype);
    ember_number_t a, b;

    ember_elements_load(class, &a, dtype, dst, 0, 1);
    ember_elements_load(class, &b, dtype, src, 0, 1);
    if (class == EMBER_CLASS_F32) {
        a.f32 = combine_f32(how, a.f32, b.f32);
    } else if (class == EMBER_CLASS_F64) {
        a.f64 = combine_f64(how, a.f64, b.f64);
    } else {
        a.s64 = combine_s64(how, a.s64, b.s64);
    }
    ember_elements_store(class, &a, dtype, dst, 0, 1);
}

void ember_elements_combine(ember_combine_t how, void *dst, const void *src,
                            uint32_t dtype, uint32_t count) {
    const uint32_t size = ember_dtype_size(dtype);

    for (uint32_t i = 0; i < count; i++) {
        combine_one(how, (char *)dst + i * size, (const char *)src + i * size, dtype);
    }
}
