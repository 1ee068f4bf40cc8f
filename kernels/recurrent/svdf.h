// SPDX-License-Identifier: Apache-2.0
// quantized_svdf: filters over inputs, then over time, in integers.
//
//     x        (n, inputs), or (n, steps, inputs)  int8
//     held     (n, filters, memory)                int16, the oldest first
//     weights  (filters, inputs)                   int8
//     times    (filters, memory)                   int16
//     scales   int32: a multiplier and then a bias for each filter, and the same for
//              each unit
//     y        (n, units), or (n, steps, units)    int8
//     next     (n, filters, memory)                int16
//
// A step drops the oldest number of each filter, and appends
//
//     a = int16((P(S) + bias) >> 4)          S: the products of a row of weights
//
// as recurrent.h has P. `rank` filters after one another belong to one unit:
//
//     t = int32((T + 2^14) >> 15)            T: the products of these with their times
//     y = int8((P(t) + bias) >> 4)           the shift of this P is `shift_y`
//
// where T is exact, and what exceeds 32 bits elsewhere wraps. The zero points are in
// the biases. All of it is exact on every core.
#ifndef EMBER_KERNELS_RECURRENT_SVDF_H
#define EMBER_KERNELS_RECURRENT_SVDF_H

#include "kernels/engine/dot_s16.h"
#include "kernels/recurrent/recurrent.h"

typedef struct ember_svdf {
    const int8_t *x;
    const int16_t *held;
    const int16_t *times;
    int8_t *y;
    int16_t *next;
    ember_products_s8_t of_x;
    const int32_t *bias;
    const int32_t *by_y; // (units,) multipliers, then as many biases
    int16_t *fresh;      // (filters,) scratch
    int32_t count;       // n
    int32_t steps;
    int32_t memory; // > 0
    int32_t units;
    int32_t rank; // > 0
    uint8_t shift_y;
} ember_svdf_t;

EMBER_MUST_USE ember_status_t ember_svdf_prepare(ember_svdf_t *s, ember_node_t *node,
                                                 const ember_recurrent_core_t *core);
void ember_svdf_run(const ember_svdf_t *s, const ember_recurrent_core_t *core,
                    ember_dot_s16_fn dot);

// A whole kernel.
#define EMBER_SVDF_KERNEL(NAME, CORE, DOT)                                             \
    static int32_t run(void *state) {                                                  \
        ember_svdf_run(state, &(CORE), DOT);                                           \
        return EMBER_OK;                                                               \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_svdf_prepare(state, node, &(CORE));                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_svdf_t)

#endif // EMBER_KERNELS_RECURRENT_SVDF_H
