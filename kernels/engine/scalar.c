// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/scalar.h"

#include <string.h>

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

bool ember_scalar_is_zero(ember_scalar_t scalar) {
    const uint64_t bits = (uint64_t)scalar.bits;
    return (scalar.dtype == EMBER_F64 ? bits << 1 : bits) == 0; // whatever its sign
}

bool ember_scalar_is_one(ember_scalar_t scalar) {
    const int64_t one = INT64_C(0x3ff) << 52; // as a double
    return scalar.bits == (scalar.dtype == EMBER_F64 ? one : 1);
}
