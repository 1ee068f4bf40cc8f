// SPDX-License-Identifier: Apache-2.0
// The gates of an LSTM become its next states, with Helium. Contract: recurrent.h.
#include "kernels/recurrent/numbers_mve.h"

void ember_lstm_cells_mve(const ember_recurrent_t *s, int16_t *c, int8_t *h) {
    const int32_t size = s->size;
    const int16x8_t narrower = vdupq_n_s16((int16_t)(s->cell_bits - EMBER_ONE_S16));
    const int16x8_t left = vdupq_n_s16((int16_t)(EMBER_GATE_S16 + 1 - s->cell_bits));
    const int16_t *gate = s->gates;

    for (int32_t rest = size; rest > 0; rest -= EMBER_EIGHT) {
        const mve_pred16_t lanes = vctp16q((uint32_t)rest);
        const int16x8_t i = ember_sigmoid_mve(vldrhq_z_s16(gate, lanes));
        const int16x8_t g = ember_tanh_mve(vldrhq_z_s16(gate + 2 * size, lanes));
        const int16x8_t fresh = vrshlq_s16(vqrdmulhq_s16(i, g), narrower);
        const int16x8_t f = ember_sigmoid_mve(vldrhq_z_s16(gate + size, lanes));
        const int16x8_t kept = vqrdmulhq_s16(f, vldrhq_z_s16(c, lanes));
        const int16x8_t cell = vqaddq_s16(kept, fresh);
        vstrhq_p_s16(c, cell, lanes);
        const int16x8_t inside = ember_tanh_mve(vqrshlq_s16(cell, left));
        const int16x8_t o = ember_sigmoid_mve(vldrhq_z_s16(gate + 3 * size, lanes));
        ember_store_result_mve(h, vqrdmulhq_s16(o, inside), s->result, lanes);
        gate += EMBER_EIGHT;
        c += EMBER_EIGHT;
        h += EMBER_EIGHT;
    }
}
