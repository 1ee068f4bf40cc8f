// SPDX-License-Identifier: Apache-2.0
// The numbers of recurrent layers in plain C. Contract: recurrent.h.
#ifndef EMBER_KERNELS_RECURRENT_NUMBERS_H
#define EMBER_KERNELS_RECURRENT_NUMBERS_H

#include "kernels/engine/table_s16.h"
#include "kernels/recurrent/recurrent.h"

enum {
    EMBER_ONE_S16 = 15,  // fraction bits of sigmoid and tanh
    EMBER_GATE_S16 = 11, // of their arguments
    EMBER_GATE_MORE = 4, // bits of sums before
};

// Of numbers from -16 to 16.
extern const int16_t ember_sigmoid_table[EMBER_TABLE_ITEMS_S16];

static inline int32_t ember_rounded(int32_t x, uint32_t bits) {
    return (x + ((1 << bits) >> 1)) >> bits;
}

static inline int32_t ember_limited_s16(int32_t x) {
    return x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : x;
}

// round(a * b, 15), of int16.
static inline int32_t ember_product_s16(int32_t a, int32_t b) {
    return ember_rounded(a * b, EMBER_ONE_S16);
}

static inline int32_t ember_sigmoid_s16(int32_t x) {
    return ember_table_s16(ember_sigmoid_table, x);
}

// tanh of half of `twice`.
static inline int32_t ember_tanh_s16(int32_t twice) {
    return 2 * ember_sigmoid_s16(twice) - (1 << EMBER_ONE_S16);
}

static inline int8_t ember_result_s8(int32_t x, const ember_result_s8_t *by) {
    const int32_t scaled = ember_product_s16(x, by->multiplier);
    const int32_t moved = ember_rounded(scaled, by->shift) + by->zero_point;
    return (int8_t)(moved > INT8_MAX ? INT8_MAX : moved < INT8_MIN ? INT8_MIN : moved);
}

#endif // EMBER_KERNELS_RECURRENT_NUMBERS_H
