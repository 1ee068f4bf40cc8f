// SPDX-License-Identifier: Apache-2.0
// quantized_add and quantized_mul: two tensors, or one and a number, of 8 bits.
//
//     y = quantised(a_scale * (a - a_zero) op b_scale * (b - b_zero))
#ifndef EMBER_KERNELS_CADENCE_BINARY_H
#define EMBER_KERNELS_CADENCE_BINARY_H

#include "kernels/engine/cadence/numbers.h"
#include "kernels/engine/strided.h"

enum { EMBER_CADENCE_OPERANDS = 3 }; // y, a, b

// What run reads, for the rows.
typedef struct ember_cadence_pair {
    ember_cadence_cut_t cut;
    float inverse; // of the output's scale
    float a_scale;
    float b_scale; // 1 for a number
    int32_t a_zero;
    int32_t b_zero;
    float number;
    bool is_signed;
} ember_cadence_pair_t;

typedef struct ember_cadence_binary {
    uint8_t *data[EMBER_CADENCE_OPERANDS]; // the last NULL where it is a number
    ember_cadence_number_t scales[2];
    ember_cadence_number_t zeros[2];
    ember_cadence_cut_t cut;
    float inverse;
    float number;
    uint8_t dtype;
    uint8_t dims; // of the table; 0: no elements
    int32_t table[EMBER_WALK_ITEMS(EMBER_CADENCE_OPERANDS)];
} ember_cadence_binary_t;

EMBER_MUST_USE ember_status_t ember_cadence_binary(ember_cadence_binary_t *binary,
                                                   ember_node_t *node);

// One row of outputs; the operands' elements are `a_step` and `b_step` bytes apart.
typedef void (*ember_cadence_row_fn)(const ember_cadence_pair_t *pair, uint8_t *y,
                                     const uint8_t *a, int32_t a_step, const uint8_t *b,
                                     int32_t b_step, int32_t y_step, int32_t count);
int32_t ember_cadence_binary_run(const ember_cadence_binary_t *binary,
                                 ember_cadence_row_fn row);

static inline int32_t ember_cadence_byte(uint8_t x, int32_t sign) {
    return (x ^ sign) - sign;
}

// A whole kernel whose operation is EXPRESSION of the real numbers a and b.
#define EMBER_CADENCE_BINARY_KERNEL(NAME, EXPRESSION)                                  \
    static void row(const ember_cadence_pair_t *pair, uint8_t *y, const uint8_t *x,    \
                    int32_t x_step, const uint8_t *z, int32_t z_step, int32_t y_step,  \
                    int32_t count) {                                                   \
        const ember_cadence_pair_t by = *pair;                                         \
        const int32_t sign = by.is_signed ? 128 : 0;                                   \
        for (; count > 0; count--) {                                                   \
            const float a =                                                            \
                by.a_scale * (float)(ember_cadence_byte(*x, sign) - by.a_zero);        \
            const float b =                                                            \
                z == NULL                                                              \
                    ? by.number                                                        \
                    : by.b_scale * (float)(ember_cadence_byte(*z, sign) - by.b_zero);  \
            *y = (uint8_t)ember_cadence_cut_of(&by.cut, (EXPRESSION) * by.inverse);    \
            x += x_step;                                                               \
            z = z == NULL ? NULL : z + z_step;                                         \
            y += y_step;                                                               \
        }                                                                              \
    }                                                                                  \
    static int32_t run(void *state) {                                                  \
        return ember_cadence_binary_run(state, row);                                   \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_cadence_binary(state, node);                                      \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_cadence_binary_t)

#endif // EMBER_KERNELS_CADENCE_BINARY_H
