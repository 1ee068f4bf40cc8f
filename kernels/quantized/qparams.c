// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantized/qparams.h"

enum { BLOCK = 16 };

static void widen_f32(ember_extent_t *extent, const float *x, uint32_t count) {
    float low = (float)extent->low;
    float high = (float)extent->high;
    bool is_nan = low != low;
    for (uint32_t i = 0; i < count; i++) {
        is_nan |= x[i] != x[i];
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    extent->low = is_nan ? (double)__builtin_nanf("") : (double)low;
    extent->high = is_nan ? (double)__builtin_nanf("") : (double)high;
}

static void widen_f64(ember_extent_t *extent, const double *x, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const bool is_nan = x[i] != x[i] || extent->low != extent->low;
        const double low = x[i] < extent->low ? x[i] : extent->low;
        const double high = x[i] > extent->high ? x[i] : extent->high;
        extent->low = is_nan ? __builtin_nan("") : low;
        extent->high = is_nan ? __builtin_nan("") : high;
    }
}

ember_extent_t ember_extent_of(uint32_t dtype, const void *x, int32_t step,
                               uint32_t count) {
    const ember_class_t class = ember_class_of(dtype);
    const char *at = x;
    ember_extent_t extent = {0.0, 0.0};
    union {
        float f32[BLOCK];
        double f64[BLOCK];
    } numbers;

    for (uint32_t left = count; left > 0;) {
        const uint32_t part = left < BLOCK ? left : BLOCK;
        ember_elements_load(class, &numbers, dtype, at, step, part);
        if (class == EMBER_CLASS_F32) {
            widen_f32(&extent, numbers.f32, part);
        } else {
            widen_f64(&extent, numbers.f64, part);
        }
        at += (ptrdiff_t)part * step;
        left -= part;
    }
    return extent;
}

double ember_rounded(uint32_t dtype, double number) {
    ember_number_t stored;
    ember_number_t value = {.f64 = number};
    ember_elements_store(EMBER_CLASS_F64, &value, dtype, &stored, 0, 1);
    ember_elements_load(EMBER_CLASS_F64, &value, dtype, &stored, 0, 1);
    return value.f64;
}

double ember_larger(double a, double b) {
    if (a != a || b != b) {
        return a + b;
    }
    return a > b ? a : b;
}

void ember_put_double(uint32_t dtype, void *to, double number) {
    ember_elements_store(EMBER_CLASS_F64, &number, dtype, to, 0, 1);
}

void ember_put_int(uint32_t dtype, void *to, int64_t number) {
    ember_elements_store(EMBER_CLASS_S64, &number, dtype, to, 0, 1);
}
