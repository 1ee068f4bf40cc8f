// SPDX-License-Identifier: Apache-2.0
// quantized_layer_norm: each row of the last dimensions is a group. Formulas:
// norm_s8.h.
#ifndef EMBER_KERNELS_NORM_LAYER_NORM_S8_H
#define EMBER_KERNELS_NORM_LAYER_NORM_S8_H

#include "kernels/norm/norm_s8.h"

typedef struct ember_layer_norm_s8 {
    const int8_t *x;       // (rows, by.count)
    int8_t *y;             // the same; may be x
    const int32_t *scales; // (2, by.count): g, then b
    uint32_t rows;
    ember_norm_s8_t by;
} ember_layer_norm_s8_t;

// A row of elements: y = int8((U(x * multiplier + start, g) + b) >> 8).
typedef struct ember_layer_row_s8 {
    const int8_t *x;
    int8_t *y;
    const int32_t *g;
    const int32_t *b;
    uint32_t count;
    int32_t multiplier;
    int32_t start; // -mean * multiplier - rest
} ember_layer_row_s8_t;

typedef void (*ember_layer_row_s8_fn)(const ember_layer_row_s8_t *row);

// Elements from `first` on, in plain C.
void ember_layer_row_s8(const ember_layer_row_s8_t *row, uint32_t first);

EMBER_MUST_USE ember_status_t ember_layer_norm_s8_prepare(ember_node_t *node,
                                                          ember_layer_norm_s8_t *s);
void ember_layer_norm_s8_run(const ember_layer_norm_s8_t *s, ember_norm_sums_s8_t sums,
                             ember_layer_row_s8_fn scale);

// A whole kernel.
#define EMBER_LAYER_NORM_S8_KERNEL(NAME, SUMS, SCALE)                                  \
    static int32_t run(void *state) {                                                  \
        ember_layer_norm_s8_run(state, SUMS, SCALE);                                   \
        return EMBER_OK;                                                               \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_layer_norm_s8_prepare(node, state);                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_layer_norm_s8_t)

#endif // EMBER_KERNELS_NORM_LAYER_NORM_S8_H
