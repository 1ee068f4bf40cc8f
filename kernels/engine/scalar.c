// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/scalar.h"

#include <float.h>
#include <string.h>

#include "kernels/engine/element.h"
#include "kernels/engine/mathf.h"

ember_scalar_t ember_scalar_arg(ember_node_t *node, uint32_t arg) {
    const ember_value_t value = ember_node_scalar(node, arg);
    // Of a double, its bits.
    return (ember_scalar_t){value.as_int,
                            value.kind == EMBER_DOUBLE ? EMBER_F64 : EMBER_S64};
}

float ember_scalar_f32(ember_scalar_t scalar) {
    int64_t integer = scalar.bits;
    int32_t scale = 0;

    if (scalar.dtype == EMBER_F64) {
        double number;
        memcpy(&number, &scalar.bits, sizeof(number));
        return (float)number;
    }
    // To 32 bits, of which a float keeps 24; the lowest says whether there was more.
    for (; integer != (int32_t)integer; scale++) {
        integer = integer >> 1 | (integer & 1);
    }
    return (float)(int32_t)integer * ember_pow2(scale);
}

// What the dtype makes of the number is less than 1 off, or as a float not by infinity.
void ember_scalar_check(ember_node_t *node, ember_scalar_t scalar, uint32_t dtype) {
    const bool real = scalar.dtype == EMBER_F64;
    const bool has_sign = dtype != EMBER_U8 && dtype < EMBER_U16;
    double number;
    double held;
    int64_t element;

    if (dtype == EMBER_B1 || (!real && ember_dtype_size(dtype) == sizeof(element))) {
        return;
    }
    ember_elements_load(EMBER_CLASS_F64, &number, scalar.dtype, &scalar.bits, 0, 1);
    if (!real && !has_sign && number < 0.0) {
        number = -number;
    }
    ember_elements_store(EMBER_CLASS_F64, &number, dtype, &element, 0, 1);
    ember_elements_load(EMBER_CLASS_F64, &held, dtype, &element, 0, 1);
    held -= number; // NaN where both are infinite
    held = held < 0.0 ? -held : held;
    if (ember_class_of(dtype) == EMBER_CLASS_S64 ? !(held < 1.0) : held > DBL_MAX) {
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
