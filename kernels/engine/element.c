// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/element.h"

#include <stddef.h>

ember_class_t ember_class_of(uint32_t dtype) {
    if (dtype == EMBER_F64) {
        return EMBER_CLASS_F64;
    }
    return dtype == EMBER_F16 || dtype == EMBER_F32 || dtype == EMBER_BF16
               ? EMBER_CLASS_F32
               : EMBER_CLASS_S64;
}

uint32_t ember_class_size(ember_class_t class) {
    return class == EMBER_CLASS_F32 ? 4 : 8;
}

ember_dtype_t ember_class_dtype(ember_class_t class) {
    return class == EMBER_CLASS_F32   ? EMBER_F32
           : class == EMBER_CLASS_F64 ? EMBER_F64
                                      : EMBER_S64;
}

// A cast in the range of int64; the lowest number for what lies outside and NaN, as
// the x86 instruction that PyTorch's casts compile to.
static int64_t to_s64(ember_number_t number) {
    const uint32_t exponent = (uint32_t)((uint64_t)number.s64 >> 52) & 0x7ff;
    return exponent < 1023 + 63 ? (int64_t)number.f64 : INT64_MIN;
}

static ember_number_t convert(ember_number_t in, ember_class_t from, ember_class_t to) {
    ember_number_t out = in;
    if (from == to) {
        return out;
    }
    if (to == EMBER_CLASS_F32) {
        out.f32 = from == EMBER_CLASS_F64 ? (float)in.f64 : (float)in.s64;
        return out;
    }
    if (from == EMBER_CLASS_F32) {
        in.f64 = (double)in.f32;
    }
    if (to == EMBER_CLASS_S64) {
        out.s64 = to_s64(in);
    } else {
        out.f64 = from == EMBER_CLASS_S64 ? (double)in.s64 : in.f64;
    }
    return out;
}

// The element at `at` as a number of its dtype's class.
static ember_number_t load(uint32_t dtype, const void *at) {
    ember_number_t number = {.s64 = 0};
    switch (dtype) {
    case EMBER_U8:
    case EMBER_B1:
        number.s64 = *(const uint8_t *)at;
        break;
    case EMBER_S8:
        number.s64 = *(const int8_t *)at;
        break;
    case EMBER_S16:
        number.s64 = *(const int16_t *)at;
        break;
    case EMBER_U16:
        number.s64 = *(const uint16_t *)at;
        break;
    case EMBER_S32:
        number.s64 = *(const int32_t *)at;
        break;
    case EMBER_U32:
        number.s64 = *(const uint32_t *)at;
        break;
    case EMBER_F16:
        number.f32 = ember_f32_from_f16(*(const uint16_t *)at);
        break;
    case EMBER_BF16:
        number.f32 = ember_f32_from_bf16(*(const uint16_t *)at);
        break;
    case EMBER_F32:
        number.f32 = *(const float *)at;
        break;
    default:
        number.s64 = *(const int64_t *)at; // or the bits of a double
        break;
    }
    return number;
}

// Whether the number is not zero; zeros of floats may have a sign.
static int64_t truth(ember_number_t number, ember_class_t class) {
    if (class == EMBER_CLASS_F32) {
        number.s64 = (int32_t)((uint32_t)number.s64 << 1);
    } else if (class == EMBER_CLASS_F64) {
        number.s64 = (int64_t)((uint64_t)number.s64 << 1);
    }
    return number.s64 != 0;
}

// Writes a number of the dtype's class: the lowest bytes come first.
static void store(uint32_t dtype, void *at, ember_number_t number) {
    if (dtype == EMBER_F16) {
        number.s64 = ember_f16_from_f32(number.f32);
    } else if (dtype == EMBER_BF16) {
        number.s64 = ember_bf16_from_f32(number.f32);
    }
    switch (ember_dtype_size(dtype)) {
    case 1:
        *(uint8_t *)at = (uint8_t)number.s64;
        break;
    case 2:
        *(uint16_t *)at = (uint16_t)number.s64;
        break;
    case 4:
        *(uint32_t *)at = (uint32_t)number.s64;
        break;
    default:
        *(int64_t *)at = number.s64;
        break;
    }
}

typedef struct elements {
    char *at;
    uint32_t dtype;
    int32_t step; // bytes
} elements_t;

static void move(elements_t to, elements_t from, uint32_t count) {
    const ember_class_t class = ember_class_of(from.dtype);
    for (; count > 0; count--, to.at += to.step, from.at += from.step) {
        ember_number_t number = load(from.dtype, from.at);
        if (to.dtype == EMBER_B1) {
            number.s64 = truth(number, class);
        } else {
            number = convert(number, class, ember_class_of(to.dtype));
        }
        store(to.dtype, to.at, number);
    }
}

// An array of numbers is one of elements of their dtype.
static elements_t array_of(ember_class_t class, const void *numbers) {
    return (elements_t){(char *)(uintptr_t)numbers, ember_class_dtype(class),
                        (int32_t)ember_class_size(class)};
}

void ember_elements_load(ember_class_t class, void *to, uint32_t dtype,
                         const void *from, int32_t step, uint32_t count) {
    const elements_t elements = {(char *)(uintptr_t)from, dtype, step};
    move(array_of(class, to), elements, count);
}

void ember_elements_store(ember_class_t class, const void *from, uint32_t dtype,
                          void *to, int32_t step, uint32_t count) {
    const elements_t elements = {to, dtype, step};
    move(elements, array_of(class, from), count);
}

void ember_numbers_convert(void *numbers, ember_class_t from, ember_class_t to,
                           uint32_t count) {
    elements_t source = array_of(from, numbers);
    elements_t target = array_of(to, numbers);
    if (from == EMBER_CLASS_F32 && count > 0) { // 4 to 8 bytes: from the end
        source.at += (ptrdiff_t)(count - 1) * source.step;
        target.at += (ptrdiff_t)(count - 1) * target.step;
        source.step = -source.step;
        target.step = -target.step;
    }
    move(target, source, count);
}

int64_t ember_integer_wrap(uint32_t dtype, int64_t number) {
    return dtype == EMBER_B1 ? number != 0 : load(dtype, &number).s64;
}
