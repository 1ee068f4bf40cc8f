// SPDX-License-Identifier: Apache-2.0
// The gates of an LSTM become its next states, with the DSP instructions. Contract:
// recurrent.h.
#include "kernels/recurrent/numbers_dsp.h"

// A cell with twice its number, of the fraction bits of gates: to the left or, rounded,
// to the right.
typedef struct {
    int32_t left;
    int32_t right;
    int32_t half;
} twice_t;

INLINE twice_t twice_of(int32_t cell_bits) {
    const int32_t left = EMBER_GATE_S16 + 1 - cell_bits;
    return left >= 0 ? (twice_t){left, 0, 0} : (twice_t){0, -left, (1 << -left) >> 1};
}

// The next cells. Apart from outputs(), so that what a loop needs is in registers.
static FAST void cells(const ember_recurrent_t *s, int16_t *c) {
    const int16_t *middle = ember_sigmoid_table + EMBER_TABLE_MIDDLE_S16;
    const int32_t narrower = EMBER_ONE_S16 - s->cell_bits;
    const int32_t half = (1 << narrower) >> 1;
    const int32_t size = s->size;
    const int16_t *gate = s->gates;

    for (const int16_t *end = gate + size; gate < end; gate++) {
        const int32_t i = ember_sigmoid_dsp(middle, gate[0]);
        const int32_t g = ember_sigmoid_dsp(middle, gate[2 * size]);
        const int32_t fresh = (ember_times_tanh_dsp(i, g) + half) >> narrower;
        const int32_t f = ember_sigmoid_dsp(middle, gate[size]);
        *c = (int16_t)ember_ssat16(ember_product_s16(f, *c) + fresh);
        c++;
    }
}

static FAST void outputs(const ember_recurrent_t *s, const int16_t *c, int8_t *h) {
    const int16_t *middle = ember_sigmoid_table + EMBER_TABLE_MIDDLE_S16;
    const ember_result_dsp_t result = ember_result_dsp(s->result);
    const twice_t twice = twice_of(s->cell_bits);
    const int16_t *gate = s->gates + 3 * s->size;

    for (const int16_t *end = c + s->size; c < end; c++) {
        const int32_t wide = (*c * (1 << twice.left) + twice.half) >> twice.right;
        const int32_t inside = ember_sigmoid_dsp(middle, ember_ssat16(wide));
        const int32_t o = ember_sigmoid_dsp(middle, *gate++);
        *h++ = ember_resulting_dsp(ember_times_tanh_dsp(o, inside), result);
    }
}

void ember_lstm_cells_dsp(const ember_recurrent_t *s, int16_t *c, int8_t *h) {
    cells(s, c);
    outputs(s, c, h);
}
