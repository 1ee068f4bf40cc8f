// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/scalar.h"

#include <string.h>

#include "kernels/engine/element.h"
#include "kernels/engine/mathf.h"

ember_scalar_t ember_scalar_arg(ember_node_t *node, uint32_t arg) {
    const ember_value_t value = ember_node_scalar(node, arg);
    return (ember_scalar_t){value.as_int, ember_scalar_dtype(&value)};
}

float ember_scalar_f32(ember_scalar_t scalar) {
    int64_t integer = scalar.bits;
    int32_t scale = 0;

    if (scalar.dtype == EMBER_F64) {
        double number;
        memcpy(&number, &scalar.bits, sizeof(number));
        return (float)number;
    }
    // To 32 bits, of which a float keeps 24; the lowest says whether any were cut off.
    for (; integer != (int32_t)integer; scale++) {
        integer = integer >> 1 | (integer & 1);
    }
    return (float)(int32_t)integer * ember_pow2(scale);
}

// Whether the dtype's value is less than 1 off, or for a float not infinitely off.
void ember_scalar_check(ember_node_t *node, const ember_value_t *scalar,
                        uint32_t dtype) {
    const bool no_sign = dtype == EMBER_U8 || dtype >= EMBER_U16;
    const ember_dtype_t from = ember_scalar_dtype(scalar);
    int64_t bits = scalar->as_int;
    ember_number_t number;
    ember_number_t held;
    int64_t element;

    if (from != EMBER_F64) {
        if (ember_dtype_size(dtype) == sizeof(element)) {
            return;
        }
        if (no_sign && bits < 0) {
            bits = (int64_t)(0 - (uint64_t)bits);
        }
    }
    ember_element_cast(EMBER_F64, &number, from, &bits);
    ember_element_cast(dtype, &element, from, &bits);
    ember_element_cast(EMBER_F64, &held, dtype, &element);
    held.f64 -= number.f64; // NaN where both are infinite
    const uint64_t off = (uint64_t)held.s64 << 1;
    const bool fits = ember_class_of(dtype) == EMBER_CLASS_S64
                          ? off < UINT64_C(0x3ff) << 53   // less than 1
                          : off != UINT64_C(0x7ff) << 53; // not infinite
    if (!fits && dtype != EMBER_B1) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "scalar: the dtype cannot hold it");
    }
}

float ember_scalar_arg_f32(ember_node_t *node, uint32_t arg) {
    const ember_scalar_t scalar = ember_scalar_arg(node, arg);
    const float number = ember_scalar_f32(scalar);
    const float off = number - number; // NaN unless it is finite
    if (off != 0.0f && scalar.dtype == EMBER_F64 &&
        ((uint64_t)scalar.bits >> 52 & 0x7ff) != 0x7ff) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "scalar: float32 cannot hold it");
    }
    return number;
}

bool ember_scalar_is_zero(ember_scalar_t scalar) {
    const uint64_t bits = (uint64_t)scalar.bits;
    return (scalar.dtype == EMBER_F64 ? bits << 1 : bits) == 0; // whatever its sign
}

bool ember_scalar_is_one(ember_scalar_t scalar) {
    const int64_t one = INT64_C(0x3ff) << 52; // as a double
    return scalar.bits == (scalar.dtype == EMBER_F64 ? one : 1);
}
