// SPDX-License-Identifier: Apache-2.0
// The gates of a GRU become its next state, with Helium. Contract: recurrent.h.
#include "kernels/recurrent/numbers_mve.h"

void ember_gru_cells_mve(const ember_recurrent_t *s, int16_t *h, int8_t *y) {
    const int32_t size = s->size;
    const int16_t *gate = s->gates;

    for (int32_t rest = size; rest > 0; rest -= EMBER_EIGHT) {
        const mve_pred16_t lanes = vctp16q((uint32_t)rest);
        const int16x8_t r = ember_sigmoid_mve(vldrhq_z_s16(gate, lanes));
        const int16x8_t of_h = vqrdmulhq_s16(r, vldrhq_z_s16(gate + 3 * size, lanes));
        const int16x8_t both = vqaddq_s16(vldrhq_z_s16(gate + 2 * size, lanes), of_h);
        const int16x8_t n = ember_tanh_mve(both);
        const int16x8_t z = ember_sigmoid_mve(vldrhq_z_s16(gate + size, lanes));
        const int16x8_t fresh = vsubq_s16(n, vqrdmulhq_s16(z, n));
        const int16x8_t kept = vqrdmulhq_s16(z, vldrhq_z_s16(h, lanes));
        const int16x8_t next = vqaddq_s16(kept, fresh);
        vstrhq_p_s16(h, next, lanes);
        ember_store_result_mve(y, next, s->result, lanes);
        gate += EMBER_EIGHT;
        h += EMBER_EIGHT;
        y += EMBER_EIGHT;
    }
}
