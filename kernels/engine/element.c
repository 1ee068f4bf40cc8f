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

// A cast in the range of int64; the lowest number for anything outside and NaN, like
// the x86 instruction that PyTorch's casts compile to.
static int64_t to_s64(ember_number_t number) {
    const uint32_t exponent = (uint32_t)((uint64_t)number.s64 >> 52) & 0x7ff;
    return exponent < 1023 + 63 ? (int64_t)number.f64 : INT64_MIN;
}

static void convert(ember_number_t *number, ember_class_t from, ember_class_t to) {
    if (to == EMBER_CLASS_F32) {
        number->f32 = from == EMBER_CLASS_F64 ? (float)number->f64 : (float)number->s64;
        return;
    }
    if (from == EMBER_CLASS_F32) {
        number->f64 = (double)number->f32;
    }
    if (from == EMBER_CLASS_S64) {
        number->f64 = (double)number->s64;
    } else if (to == EMBER_CLASS_S64) {
        number->s64 = to_s64(*number);
    }
}

// Whether the number is not zero; float zeros may have a sign.
static bool truth(ember_number_t number, ember_class_t class) {
    uint64_t bits = (uint64_t)number.s64;
    if (class == EMBER_CLASS_F32) {
        bits <<= 33;
    } else if (class == EMBER_CLASS_F64) {
        bits <<= 1;
    }
    return bits != 0;
}

// Converts the bytes of an element, with zeros above, to a number of its dtype's class.
static void widen(ember_number_t *number, uint32_t dtype, uint32_t size) {
    const uint32_t low = (uint32_t)number->s64;
    if (dtype == EMBER_F16) {
        number->f32 = ember_f32_from_f16((uint16_t)low);
    } else if (dtype == EMBER_BF16) {
        number->s64 = low << 16;
    } else if (dtype >= EMBER_S8 && dtype <= EMBER_S32) {
        const uint32_t above = 32 - 8 * size;
        number->s64 = (int32_t)(low << above) >> above;
    }
}

// The reverse: only the lowest bytes count.
static void narrow(ember_number_t *number, uint32_t dtype) {
    if (dtype == EMBER_F16) {
        number->s64 = ember_f16_from_f32(number->f32);
    } else if (dtype == EMBER_BF16) {
        number->s64 = ember_bf16_from_f32(number->f32);
    }
}

// The bytes of an element, with zeros above.
static int64_t read_bytes(uint32_t size, const void *at) {
    if (size == 8) {
        return *(const int64_t *)at;
    }
    return size == 4   ? *(const uint32_t *)at
           : size == 2 ? *(const uint16_t *)at
                       : *(const uint8_t *)at;
}

static void write_bytes(uint32_t size, void *at, int64_t bits) {
    if (size == 8) {
        *(int64_t *)at = bits;
    } else if (size == 4) {
        *(uint32_t *)at = (uint32_t)bits;
    } else if (size == 2) {
        *(uint16_t *)at = (uint16_t)bits;
    } else {
        *(uint8_t *)at = (uint8_t)bits;
    }
}

void ember_elements_cast(const ember_elements_t *to, const ember_elements_t *from,
                         uint32_t count) {
    const ember_class_t class = ember_class_of(from->dtype);
    const ember_class_t target = ember_class_of(to->dtype);
    const uint32_t from_size = ember_dtype_size(from->dtype);
    const uint32_t to_size = ember_dtype_size(to->dtype);
    ember_elements_t source = *from; // in registers: writes cannot alias it
    ember_elements_t result = *to;
    for (; count > 0; count--) {
        ember_number_t number = {.s64 = read_bytes(from_size, source.at)};
        widen(&number, source.dtype, from_size);
        if (result.dtype == EMBER_B1) {
            number.s64 = truth(number, class);
        } else if (class != target) {
            convert(&number, class, target);
        }
        narrow(&number, result.dtype);
        write_bytes(to_size, result.at, number.s64);
        result.at = (char *)result.at + result.step;
        source.at = (char *)source.at + source.step;
    }
}

void ember_element_cast(uint32_t to_dtype, void *to, uint32_t from_dtype,
                        const void *from) {
    const ember_elements_t target = {to, to_dtype, 0};
    const ember_elements_t source = {(void *)(uintptr_t)from, from_dtype, 0};
    ember_elements_cast(&target, &source, 1);
}

ember_elements_t ember_elements_of(ember_class_t class, const void *numbers) {
    return (ember_elements_t){(void *)(uintptr_t)numbers, ember_class_dtype(class),
                              (int32_t)ember_class_size(class)};
}

void ember_elements_load(ember_class_t class, void *to, uint32_t dtype,
                         const void *from, int32_t step, uint32_t count) {
    ember_elements_t elements = {(void *)(uintptr_t)from, dtype, step};
    ember_elements_t numbers = ember_elements_of(class, to);
    ember_elements_cast(&numbers, &elements, count);
}

void ember_elements_store(ember_class_t class, const void *from, uint32_t dtype,
                          void *to, int32_t step, uint32_t count) {
    ember_elements_t elements = {to, dtype, step};
    ember_elements_t numbers = ember_elements_of(class, from);
    ember_elements_cast(&elements, &numbers, count);
}

void ember_numbers_convert(void *numbers, ember_class_t from, ember_class_t to,
                           uint32_t count) {
    ember_elements_t source = ember_elements_of(from, numbers);
    ember_elements_t target = ember_elements_of(to, numbers);
    if (from == EMBER_CLASS_F32 && count > 0) { // 4 to 8 bytes: from the end
        source.at = (char *)source.at + (ptrdiff_t)(count - 1) * source.step;
        target.at = (char *)target.at + (ptrdiff_t)(count - 1) * target.step;
        source.step = -source.step;
        target.step = -target.step;
    }
    ember_elements_cast(&target, &source, count);
}

int64_t ember_integer_wrap(uint32_t dtype, int64_t number) {
    int64_t element = number != 0;
    if (dtype != EMBER_B1) {
        ember_elements_load(EMBER_CLASS_S64, &element, dtype, &number, 0, 1);
    }
    return element;
}
