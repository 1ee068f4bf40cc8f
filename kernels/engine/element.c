// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/element.h"

#include <string.h>

ember_class_t ember_class_of(uint32_t dtype) {
    switch (dtype) {
    case EMBER_F16:
    case EMBER_BF16:
    case EMBER_F32:
        return EMBER_CLASS_F32;
    case EMBER_F64:
        return EMBER_CLASS_F64;
    default:
        return EMBER_CLASS_S64;
    }
}

uint32_t ember_class_size(ember_class_t class) {
    return class == EMBER_CLASS_F32 ? 4 : 8;
}

ember_dtype_t ember_class_dtype(ember_class_t class) {
    return class == EMBER_CLASS_F32   ? EMBER_F32
           : class == EMBER_CLASS_F64 ? EMBER_F64
                                      : EMBER_S64;
}

int64_t ember_integer_wrap(uint32_t dtype, int64_t number) {
    const uint32_t unused = 64 - 8 * ember_dtype_size(dtype);
    const uint64_t high = (uint64_t)number << (unused % 64);
    if (dtype == EMBER_B1) {
        return number != 0;
    }
    if (dtype == EMBER_U8 || dtype >= EMBER_U16) {
        return (int64_t)(high >> (unused % 64));
    }
    return (int64_t)high >> (unused % 64);
}

// A cast in the range of int64; the lowest number for what lies outside, as the
// x86 instruction that PyTorch's casts compile to.
static int64_t to_s64(double x) {
    const double limit = 9223372036854775808.0;
    return x >= -limit && x < limit ? (int64_t)x : INT64_MIN;
}

void ember_numbers_convert(void *numbers, ember_class_t from, ember_class_t to,
                           uint32_t count) {
    const bool grows = from == EMBER_CLASS_F32; // 4 to 8 bytes: from the end
    if (from == to) {
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t i = grows ? count - 1 - k : k;
        const char *source = (const char *)numbers + i * ember_class_size(from);
        char *target = (char *)numbers + i * ember_class_size(to);
        ember_number_t in;
        ember_number_t out;
        memcpy(&in, source, ember_class_size(from));
        if (to == EMBER_CLASS_S64) {
            out.s64 = to_s64(from == EMBER_CLASS_F32 ? (double)in.f32 : in.f64);
        } else if (to == EMBER_CLASS_F64) {
            out.f64 = from == EMBER_CLASS_F32 ? (double)in.f32 : (double)in.s64;
        } else {
            out.f32 = from == EMBER_CLASS_F64 ? (float)in.f64 : (float)in.s64;
        }
        memcpy(target, &out, ember_class_size(to));
    }
}

// The body of a loop over elements of one dtype; `at` moves by `step`.
#define EACH(TYPE, EXPRESSION)                                                         \
    for (uint32_t i = 0; i < count; i++, at += step) {                                 \
        const TYPE v = *(const TYPE *)(const void *)at;                                \
        y[i] = EXPRESSION;                                                             \
    }                                                                                  \
    break

static void load_s64(int64_t *y, uint32_t dtype, const char *at, int32_t step,
                     uint32_t count) {
    switch (dtype) {
    case EMBER_U8:
    case EMBER_B1:
        EACH(uint8_t, v);
    case EMBER_S8:
        EACH(int8_t, v);
    case EMBER_S16:
        EACH(int16_t, v);
    case EMBER_U16:
        EACH(uint16_t, v);
    case EMBER_S32:
        EACH(int32_t, v);
    case EMBER_U32:
        EACH(uint32_t, v);
    default:
        EACH(int64_t, v);
    }
}

static void load_f32(float *y, uint32_t dtype, const char *at, int32_t step,
                     uint32_t count) {
    switch (dtype) {
    case EMBER_F16:
        EACH(uint16_t, ember_f32_from_f16(v));
    case EMBER_BF16:
        EACH(uint16_t, ember_f32_from_bf16(v));
    default:
        EACH(float, v);
    }
}

static void load_f64(double *y, const char *at, int32_t step, uint32_t count) {
    for (uint32_t i = 0; i < count; i++, at += step) {
        y[i] = *(const double *)(const void *)at;
    }
}

void ember_elements_load(ember_class_t class, void *to, uint32_t dtype,
                         const void *from, int32_t step, uint32_t count) {
    const ember_class_t own = ember_class_of(dtype);
    if (own == EMBER_CLASS_S64) {
        load_s64(to, dtype, from, step, count);
    } else if (own == EMBER_CLASS_F32) {
        load_f32(to, dtype, from, step, count);
    } else {
        load_f64(to, from, step, count);
    }
    ember_numbers_convert(to, own, class, count);
}

#undef EACH
#define EACH(TYPE, FROM, EXPRESSION)                                                   \
    for (uint32_t i = 0; i < count; i++, at += step) {                                 \
        const FROM v = ((const FROM *)from)[i];                                        \
        *(TYPE *)(void *)at = EXPRESSION;                                              \
    }                                                                                  \
    break

static void store_b1(ember_class_t class, const void *from, char *at, int32_t step,
                     uint32_t count) {
    switch (class) {
    case EMBER_CLASS_F32:
        EACH(uint8_t, float, v != 0.0f);
    case EMBER_CLASS_F64:
        EACH(uint8_t, double, v != 0.0);
    default:
        EACH(uint8_t, int64_t, v != 0);
    }
}

static void store_own(const void *from, uint32_t dtype, char *at, int32_t step,
                      uint32_t count) {
    switch (dtype) {
    case EMBER_U8:
    case EMBER_S8:
        EACH(uint8_t, int64_t, (uint8_t)v);
    case EMBER_S16:
    case EMBER_U16:
        EACH(uint16_t, int64_t, (uint16_t)v);
    case EMBER_S32:
    case EMBER_U32:
        EACH(uint32_t, int64_t, (uint32_t)v);
    case EMBER_F16:
        EACH(uint16_t, float, ember_f16_from_f32(v));
    case EMBER_BF16:
        EACH(uint16_t, float, ember_bf16_from_f32(v));
    case EMBER_F32:
        EACH(float, float, v);
    case EMBER_F64:
        EACH(double, double, v);
    default:
        EACH(int64_t, int64_t, v);
    }
}

void ember_elements_store(ember_class_t class, void *from, uint32_t dtype, void *to,
                          int32_t step, uint32_t count) {
    if (dtype == EMBER_B1) {
        store_b1(class, from, to, step, count);
        return;
    }
    ember_numbers_convert(from, class, ember_class_of(dtype), count);
    store_own(from, dtype, to, step, count);
}
