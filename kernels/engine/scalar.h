// SPDX-License-Identifier: Apache-2.0
// Scalar arguments of float32 kernels, without the double arithmetic that
// single-precision cores would have to link.
#ifndef EMBER_KERNELS_ENGINE_SCALAR_H
#define EMBER_KERNELS_ENGINE_SCALAR_H

#include "ember/node.h"

// A Scalar as an element in memory.
typedef struct ember_scalar {
    int64_t bits;
    ember_dtype_t dtype; // EMBER_S64, or EMBER_F64
} ember_scalar_t;

// EMBER_F64 for a Double, otherwise EMBER_S64; its bits are those of `as_int`.
static inline ember_dtype_t ember_scalar_dtype(const ember_value_t *value) {
    return value->kind == EMBER_DOUBLE ? EMBER_F64 : EMBER_S64;
}

// Argument `arg`, a Double, Int or Bool.
ember_scalar_t ember_scalar_arg(ember_node_t *node, uint32_t arg);

// Rounded to float.
float ember_scalar_f32(ember_scalar_t scalar);

// The same for argument `arg`, which must not become infinite.
float ember_scalar_arg_f32(ember_node_t *node, uint32_t arg);

// Fails `node` unless `dtype` can hold the Scalar, like PyTorch's checked casts: they
// truncate fractions, accept infinities as floats and anything as a bool, and let
// negative integers wrap in unsigned dtypes.
void ember_scalar_check(ember_node_t *node, const ember_value_t *scalar,
                        uint32_t dtype);

bool ember_scalar_is_zero(ember_scalar_t scalar);
bool ember_scalar_is_one(ember_scalar_t scalar);

#endif // EMBER_KERNELS_ENGINE_SCALAR_H
