// SPDX-License-Identifier: Apache-2.0
// add of quantized_decomposed, each step rounded to float32:
//
//     y = clamp(round(((a - zero) * scale + (b - zero) * scale) / scale) + zero)
#ifndef EMBER_KERNELS_QUANTIZED_QUANTIZED_ADD_H
#define EMBER_KERNELS_QUANTIZED_QUANTIZED_ADD_H

#include "ember/node.h"
#include "kernels/engine/strided.h"

enum { EMBER_QUANTIZED_ADD_OPERANDS = 3 };

typedef struct ember_quantized_add {
    char *data[EMBER_QUANTIZED_ADD_OPERANDS]; // y, a, b
    float zero[EMBER_QUANTIZED_ADD_OPERANDS];
    float scale[EMBER_QUANTIZED_ADD_OPERANDS]; // of y: its inverse
    float low;
    float high;
    float worst; // what NaN becomes
    uint8_t dtypes[EMBER_QUANTIZED_ADD_OPERANDS];
    uint8_t dims; // of the table; 0: no elements
    int32_t table[EMBER_WALK_ITEMS(EMBER_QUANTIZED_ADD_OPERANDS)];
} ember_quantized_add_t;

EMBER_MUST_USE ember_status_t ember_quantized_add_prepare(ember_node_t *node,
                                                          void *state);

// Adds the elements of a row, of which the table has the size and the steps.
typedef void (*ember_quantized_add_fn)(const ember_quantized_add_t *add,
                                       const ember_walk_t *walk, const int32_t *row);
void ember_quantized_add_walk(const ember_quantized_add_t *add,
                              ember_quantized_add_fn add_row);

#endif // EMBER_KERNELS_QUANTIZED_QUANTIZED_ADD_H
