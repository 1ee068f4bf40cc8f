// SPDX-License-Identifier: Apache-2.0
// The dtype in which ATen computes: tensors with dimensions come before 0-d
// tensors, and those before Scalar arguments, unless the later ones are of a higher
// category (bool, integer, float).
#ifndef EMBER_KERNELS_ENGINE_PROMOTE_H
#define EMBER_KERNELS_ENGINE_PROMOTE_H

#include "ember/node.h"

enum { EMBER_NO_DTYPE = 255 };

// What an operand is, by its priority in promotion.
typedef enum ember_say {
    EMBER_SAY_SCALAR,
    EMBER_SAY_0D,
    EMBER_SAY_TENSOR,
} ember_say_t;

// Of the operands so far, those with the highest priority; all 0 before the first.
typedef struct ember_promotion {
    uint8_t dtype;  // the smallest that holds them
    uint8_t weight; // of their category, then their priority
} ember_promotion_t;

// 1 bool, 2 integer, 3 float: an output takes results of its category, or a lower one.
uint32_t ember_category(uint8_t dtype);

void ember_promotion_add(ember_promotion_t *promotion, uint8_t dtype, ember_say_t say);

// Fails `node` unless its output, the last argument before the return value, has
// `dtype`: for operators that do not cast.
void ember_output_check(ember_node_t *node, uint32_t dtype);

// The same with the dtype of argument 0.
void ember_output_check_self(ember_node_t *node);

// Fails `node` if argument 0 or 1 is a bool tensor or number.
void ember_refuse_bools(ember_node_t *node);

// Fails `node` unless the last output is a float tensor.
void ember_output_check_floats(ember_node_t *node);

#endif // EMBER_KERNELS_ENGINE_PROMOTE_H
