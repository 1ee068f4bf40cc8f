// SPDX-License-Identifier: Apache-2.0
// Operators that work along one dimension of a tensor whose output has the same
// memory layout: element i of line (o, n) is at (o * count + i) * inner + n.
#ifndef EMBER_KERNELS_ENGINE_AXIS_H
#define EMBER_KERNELS_ENGINE_AXIS_H

#include "ember/node.h"
#include "kernels/engine/element.h"

typedef struct ember_axis {
    const char *x;
    char *y;
    uint32_t outer;
    uint32_t count; // elements along the dimension
    uint32_t inner;
    uint8_t x_dtype;
    uint8_t y_dtype;
    uint8_t x_size; // bytes of an element
    uint8_t y_size;
} ember_axis_t;

// Argument 0 to output `out` along dimension `dim`. EMBER_UNSUPPORTED if the two have
// different layouts.
EMBER_MUST_USE ember_status_t ember_axis_prepare(ember_node_t *node, ember_axis_t *axis,
                                                 uint32_t dim, uint32_t out);

// The same for float32 only.
EMBER_MUST_USE ember_status_t ember_axis_prepare_f32(ember_node_t *node,
                                                     ember_axis_t *axis, uint32_t dim,
                                                     uint32_t out);

// Splits the elements of `tensor` around dimension `dim`, in memory order.
void ember_axis_split(const ember_tensor_t *tensor, uint32_t dim, uint32_t *outer,
                      uint32_t *count, uint32_t *inner);

// One element as a double, of any dtype.
static inline double ember_load_double(uint32_t dtype, const void *from) {
    double number;
    if (dtype == EMBER_F32) {
        return (double)*(const float *)from;
    }
    ember_elements_load(EMBER_CLASS_F64, &number, dtype, from, 0, 1);
    return number;
}

static inline void ember_store_double(uint32_t dtype, void *to, double number) {
    if (dtype == EMBER_F32) {
        *(float *)to = (float)number;
        return;
    }
    ember_elements_store(EMBER_CLASS_F64, &number, dtype, to, 0, 1);
}

#endif // EMBER_KERNELS_ENGINE_AXIS_H
