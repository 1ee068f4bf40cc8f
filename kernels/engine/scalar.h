// SPDX-License-Identifier: Apache-2.0
// Scalar arguments of float32 kernels, without the double arithmetic that cores with
// single precision have to link.
#ifndef EMBER_KERNELS_ENGINE_SCALAR_H
#define EMBER_KERNELS_ENGINE_SCALAR_H

#include "ember/node.h"

// A Scalar as an element in memory.
typedef struct ember_scalar {
    int64_t bits;
    ember_dtype_t dtype; // EMBER_S64, or EMBER_F64
} ember_scalar_t;

// Of a Double EMBER_F64, otherwise EMBER_S64; its bits are those of `as_int`.
static inline ember_dtype_t ember_scalar_dtype(const ember_value_t *value) {
    return value->kind == EMBER_DOUBLE ? EMBER_F64 : EMBER_S64;
}

// Argument `arg`, a Double, Int or Bool.
ember_scalar_t ember_scalar_arg(ember_node_t *node, uint32_t arg);

// Rounded to float.
float ember_scalar_f32(ember_scalar_t scalar);

// The same of argument `arg`, which must not become infinite by it.
float ember_scalar_arg_f32(ember_node_t *node, uint32_t arg);

// Fails `node` unless `dtype` can hold the Scalar: as PyTorch's checked casts, which
// cut fractions off, take infinities as floats, anything as a bool, and let integers
// below zero wrap where there is no sign.
void ember_scalar_check(ember_node_t *node, const ember_value_t *scalar,
                        uint32_t dtype);

bool ember_scalar_is_zero(ember_scalar_t scalar);
bool ember_scalar_is_one(ember_scalar_t scalar);

#endif // EMBER_KERNELS_ENGINE_SCALAR_H
