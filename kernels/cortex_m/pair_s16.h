// SPDX-License-Identifier: Apache-2.0
// Sums and products of two int16 operands, with a zero point of 0.
//
//     sum      (a * a_by + b * b_by + 2^(shift - 1)) >> shift
//     product  a * b, scaled as requantize.h has it
//
// Both are limited. The numbers of a sum are within int32.
#ifndef EMBER_KERNELS_CORTEX_M_PAIR_S16_H
#define EMBER_KERNELS_CORTEX_M_PAIR_S16_H

#include "kernels/cortex_m/conv_s16.h"
#include "kernels/engine/int8/pair_s8.h"

typedef struct ember_add_s16 {
    ember_pair_s8_t pair; // its elements are int16
    int16_t a_by;         // >= 0, as b_by
    int16_t b_by;
    int32_t half;
    int32_t shift; // 1 .. 30
    ember_limits_s16_t limits;
} ember_add_s16_t;

typedef struct ember_mul_s16 {
    ember_pair_s8_t pair;
    ember_requantize_t by;
    ember_limits_s16_t limits;
} ember_mul_s16_t;

EMBER_MUST_USE ember_status_t ember_add_s16_prepare(ember_node_t *node, void *state);
EMBER_MUST_USE ember_status_t ember_mul_s16_prepare(ember_node_t *node, void *state);

// Whether both operands have an element of their own for each of y's.
static inline bool ember_pair_s16_dense(const ember_pair_s8_t *pair) {
    const int32_t size = (int32_t)sizeof(int16_t);
    return pair->a.step == size && pair->b.step == size;
}

// The operands of a row, and the steps to their next elements.
typedef struct ember_row_s16 {
    const int16_t *a;
    const int16_t *b;
    int16_t *y;
    int32_t a_step; // elements
    int32_t b_step;
} ember_row_s16_t;

static inline ember_row_s16_t ember_row_s16(const ember_pair_s8_t *pair, uint32_t row) {
    const int32_t at = (int32_t)row, size = (int32_t)sizeof(int16_t);

    return (ember_row_s16_t){
        (const int16_t *)(const void *)(pair->a.x + at * pair->a.row),
        (const int16_t *)(const void *)(pair->b.x + at * pair->b.row),
        (int16_t *)(void *)pair->y + row * pair->count,
        pair->a.step / size,
        pair->b.step / size,
    };
}

#endif // EMBER_KERNELS_CORTEX_M_PAIR_S16_H
