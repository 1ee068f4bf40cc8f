// SPDX-License-Identifier: Apache-2.0
// quantized_lstm, quantized_gru: a recurrent layer in integers.
//
//     x        (steps, n, inputs), with batch_first (n, steps, inputs), or (n, inputs)
//     h        (n, size)  before the first step: int8 of LSTM, int16 of GRU; None: 0
//     c        (n, size)  int16, of LSTM; None: 0
//     weights  (gates * size, inputs) and (gates * size, size), of x and of h
//     scales   int32: a multiplier for each row of both, then biases
//     y        as x, with `size` last
//
// A row's sum of products S, without a bias, becomes a gate of 11 fraction bits:
//
//     P(S) = (S * 2^shift * multiplier + 2^31) >> 32
//     gate = int16((P(Sx) + P(Sh) + bias) >> 4)
//
// where int16() saturates and sums of int32 wrap. round(a, n) is (a + 2^(n-1)) >> n,
// and a if n = 0. sigmoid() has 15 fraction bits, by a line between two values of a
// table; tanh is 2 sigmoid - 2^15, of twice the number. int8() takes a number of 15
// fraction bits to the scale of y:
//
//     int8(a) = round(round(a * multiplier, 15), shift) + zero_point, saturated
//
// LSTM, gates i, f, g, o, where g stands for twice its number, and c has `cell_bits`
// fraction bits:
//
//     c = int16(round(f * c, 15) + round(round(i * g, 15), 15 - cell_bits))
//     y = h = int8(round(o * tanh(c), 15))
//
// GRU, gates r, z, and n, of twice its number, whose x and h are apart; four biases:
//
//     n = tanh(int16(nx + round(r * nh, 15)))
//     h = int16(round(z * h, 15) + (n - round(z * n, 15)))         y = int8(h)
//
// Products of the next step take y. All of it is exact on every core.
#ifndef EMBER_KERNELS_RECURRENT_RECURRENT_H
#define EMBER_KERNELS_RECURRENT_RECURRENT_H

#include "ember/node.h"

// Outputs of a number with 15 fraction bits.
typedef struct ember_result_s8 {
    int16_t multiplier; // >= 0, of 15 fraction bits
    int16_t zero_point;
    uint8_t shift; // 0 .. 15
} ember_result_s8_t;

// Products with one of x and h.
typedef struct ember_products_s8 {
    const int8_t *weights;      // (rows, inner)
    const int32_t *multipliers; // (rows,)
    int32_t *sums;              // (rows,) scratch
    uint32_t *working;          // scratch of the core's
    int32_t rows;
    int32_t inner; // > 0
    uint8_t shift;
} ember_products_s8_t;

typedef struct ember_recurrent {
    const int8_t *x;
    const void *h;    // NULL: zeros
    const int16_t *c; // NULL: zeros
    int8_t *y;
    void *last_h; // (n, size); current during a run
    int16_t *last_c;
    ember_products_s8_t of_x;
    ember_products_s8_t of_h;
    const int32_t *bias;
    int16_t *gates; // (4, size) scratch
    int8_t *start;  // (size,) scratch: what products of the first step take
    int32_t steps;
    int32_t count; // n
    int32_t size;  // > 0; rows are gates * size
    ember_result_s8_t result;
    uint8_t cell_bits; // 0 .. 15
    bool batch_first;
    bool is_reverse;
} ember_recurrent_t;

// Sums that become gates.
typedef struct ember_gates_task {
    const int32_t *sums_x;
    const int32_t *sums_h; // NULL: zeros
    const int32_t *by_x;
    const int32_t *by_h;
    const int32_t *bias;
    int16_t *gates;
    int32_t count;
    uint8_t shift_x;
    uint8_t shift_h;
} ember_gates_task_t;

// Reads weights, and the shift of their sums, which then fit 32 bits.
EMBER_MUST_USE ember_status_t ember_products_s8_args(ember_products_s8_t *of,
                                                     ember_node_t *node,
                                                     uint32_t weights, uint32_t shift);

// `count` numbers behind `at`; NULL stays, where memory is not there yet.
static inline const int32_t *ember_behind_s32(const int32_t *at, int32_t count) {
    return at == NULL ? NULL : at + count;
}

// How a core multiplies.
typedef struct ember_recurrent_core {
    size_t (*bytes)(int32_t inner); // of `working`, a multiple of four
    // Sets the sums of all rows with `a`.
    void (*sums)(const ember_products_s8_t *of, const int8_t *a);
    void (*gates)(const ember_gates_task_t *task);
} ember_recurrent_core_t;

extern const ember_recurrent_core_t ember_recurrent_core;
extern const ember_recurrent_core_t ember_recurrent_core_dsp;
extern const ember_recurrent_core_t ember_recurrent_core_mve;

// Gates become the next states, and y.
typedef void (*ember_lstm_cells_t)(const ember_recurrent_t *s, int16_t *c, int8_t *h);
typedef void (*ember_gru_cells_t)(const ember_recurrent_t *s, int16_t *h, int8_t *y);

void ember_lstm_cells(const ember_recurrent_t *s, int16_t *c, int8_t *h);
void ember_lstm_cells_dsp(const ember_recurrent_t *s, int16_t *c, int8_t *h);
void ember_lstm_cells_mve(const ember_recurrent_t *s, int16_t *c, int8_t *h);
void ember_gru_cells(const ember_recurrent_t *s, int16_t *h, int8_t *y);
void ember_gru_cells_dsp(const ember_recurrent_t *s, int16_t *h, int8_t *y);
void ember_gru_cells_mve(const ember_recurrent_t *s, int16_t *h, int8_t *y);

EMBER_MUST_USE ember_status_t ember_lstm_prepare(ember_recurrent_t *s,
                                                 ember_node_t *node,
                                                 const ember_recurrent_core_t *core);
EMBER_MUST_USE ember_status_t ember_gru_prepare(ember_recurrent_t *s,
                                                ember_node_t *node,
                                                const ember_recurrent_core_t *core);
void ember_lstm_run(const ember_recurrent_t *s, const ember_recurrent_core_t *core,
                    ember_lstm_cells_t cells);
void ember_gru_run(const ember_recurrent_t *s, const ember_recurrent_core_t *core,
                   ember_gru_cells_t cells);

// A whole kernel.
#define EMBER_RECURRENT_KERNEL(NAME, KIND, CORE, CELLS)                                \
    static int32_t run(void *state) {                                                  \
        ember_##KIND##_run(state, &(CORE), CELLS);                                     \
        return EMBER_OK;                                                               \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_##KIND##_prepare(state, node, &(CORE));                           \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_recurrent_t)

#endif // EMBER_KERNELS_RECURRENT_RECURRENT_H
