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

// Whether the number is not zero; zeros of floats may have a sign.
static bool truth(ember_number_t number, ember_class_t class) {
    uint64_t bits = (uint64_t)number.s64;
    if (class == EMBER_CLASS_F32) {
        bits <<= 33;
    } else if (class == EMBER_CLASS_F64) {
        bits <<= 1;
    }
    return bits != 0;
}

// Makes the bytes of an element, with zeros above, a number of its dtype's class.
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

// The opposite: only the lowest bytes count.
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

typedef struct elements {
    char *at;
    uint32_t dtype;
    int32_t step; // bytes
} elements_t;

static void move(elements_t *to, elements_t *from, uint32_t count) {
    const ember_class_t class = ember_class_of(from->dtype);
    const ember_class_t target = ember_class_of(to->dtype);
    const uint32_t from_size = ember_dtype_size(from->dtype);
    const uint32_t to_size = ember_dtype_size(to->dtype);
    for (; count > 0; count--, to->at += to->step, from->at += from->step) {
        ember_number_t number = {.s64 = read_bytes(from_size, from->at)};
        widen(&number, from->dtype, from_size);
        if (to->dtype == EMBER_B1) {
            number.s64 = truth(number, class);
        } else if (class != target) {
            convert(&number, class, target);
        }
        narrow(&number, to->dtype);
        write_bytes(to_size, to->at, number.s64);
    }
}

// An array of numbers is one of elements of their dtype.
static elements_t array_of(ember_class_t class, const void *numbers) {
    return (elements_t){(char *)(uintptr_t)numbers, ember_class_dtype(class),
                        (int32_t)ember_class_size(class)};
}

void ember_elements_load(ember_class_t class, void *to, uint32_t dtype,
                         const void *from, int32_t step, uint32_t count) {
    elements_t elements = {(char *)(uintptr_t)from, dtype, step};
    elements_t numbers = array_of(class, to);
    move(&numbers, &elements, count);
}

void ember_elements_store(ember_class_t class, const void *from, uint32_t dtype,
                          void *to, int32_t step, uint32_t count) {
    elements_t elements = {to, dtype, step};
    elements_t numbers = array_of(class, from);
    move(&elements, &numbers, count);
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
    move(&target, &source, count);
}

int64_t ember_integer_wrap(uint32_t dtype, int64_t number) {
    int64_t element = number != 0;
    if (dtype != EMBER_B1) {
        ember_elements_load(EMBER_CLASS_S64, &element, dtype, &number, 0, 1);
    }
    return element;
}
