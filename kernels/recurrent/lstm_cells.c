// SPDX-License-Identifier: Apache-2.0
// The gates of an LSTM become its next states. Contract: recurrent.h.
#include "kernels/recurrent/numbers.h"

// A cell with twice its number, of the fraction bits of gates, saturated.
static inline int32_t twice_of(int32_t c, int32_t left) {
    return ember_limited_s16(left >= 0 ? c * (1 << left)
                                       : ember_rounded(c, (uint32_t)-left));
}

void ember_lstm_cells(const ember_recurrent_t *s, int16_t *c, int8_t *h) {
    const int32_t size = s->size;
    const uint32_t narrower = EMBER_ONE_S16 - s->cell_bits;
    const int32_t left = EMBER_GATE_S16 + 1 - s->cell_bits;

    for (int32_t j = 0; j < size; j++) {
        const int16_t *gate = s->gates + j;
        const int32_t i = ember_sigmoid_s16(gate[0]);
        const int32_t f = ember_sigmoid_s16(gate[size]);
        const int32_t g = ember_tanh_s16(gate[2 * size]);
        const int32_t o = ember_sigmoid_s16(gate[3 * size]);
        const int32_t fresh = ember_rounded(ember_product_s16(i, g), narrower);
        const int32_t cell = ember_limited_s16(ember_product_s16(f, c[j]) + fresh);
        const int32_t inside = ember_tanh_s16(twice_of(cell, left));
        c[j] = (int16_t)cell;
        h[j] = ember_result_s8(ember_product_s16(o, inside), &s->result);
    }
}
