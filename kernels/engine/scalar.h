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

// Argument `arg`, a Double, Int or Bool.
ember_scalar_t ember_scalar_arg(ember_node_t *node, uint32_t arg);

// Rounded to float.
float ember_scalar_f32(ember_scalar_t scalar);
static inline float ember_scalar_arg_f32(ember_node_t *node, uint32_t arg) {
    return ember_scalar_f32(ember_scalar_arg(node, arg));
}

bool ember_scalar_is_zero(ember_scalar_t scalar);
bool ember_scalar_is_one(ember_scalar_t scalar);

#endif // EMBER_KERNELS_ENGINE_SCALAR_H
