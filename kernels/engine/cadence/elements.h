// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of the Cadence dialect on one tensor: elements of one dtype,
// or reals, become those of another.
//
//     y[i] = quantised(f(x[i]))
#ifndef EMBER_KERNELS_ENGINE_CADENCE_ELEMENTS_H
#define EMBER_KERNELS_ENGINE_CADENCE_ELEMENTS_H

#include "kernels/engine/cadence/numbers.h"

typedef struct ember_cadence_elements {
    const void *x;
    void *y;
    uint32_t count;
    uint8_t x_dtype;
    uint8_t y_dtype;
} ember_cadence_elements_t;

// Reads argument 0 and output `out`, which has its shape.
EMBER_MUST_USE ember_status_t ember_cadence_elements(ember_cadence_elements_t *elements,
                                                     ember_node_t *node, uint32_t out);

// The output for an input, both of 8 bits.
typedef int32_t (*ember_cadence_byte_fn)(const void *state, int32_t x);

// Computes inputs and outputs of 8 bits: with a table first, if that is less work.
void ember_cadence_bytes(const ember_cadence_elements_t *elements,
                         ember_cadence_byte_fn one, const void *state);

#endif // EMBER_KERNELS_ENGINE_CADENCE_ELEMENTS_H
