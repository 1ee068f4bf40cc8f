// SPDX-License-Identifier: Apache-2.0
// The gates of a GRU become its next state, with the DSP instructions. Contract:
// recurrent.h.
#include "kernels/recurrent/numbers_dsp.h"

FAST void ember_gru_cells_dsp(const ember_recurrent_t *s, int16_t *h, int8_t *y) {
    const int16_t *middle = ember_sigmoid_table + EMBER_TABLE_MIDDLE_S16;
    const ember_result_dsp_t result = ember_result_dsp(s->result);
    const int32_t size = s->size;
    const int16_t *gate = s->gates;

    for (int32_t left = size; left > 0; left--) {
        const int32_t r = ember_sigmoid_dsp(middle, gate[0]);
        const int32_t both = gate[2 * size] + ember_product_s16(r, gate[3 * size]);
        const int32_t n = ember_tanh_dsp(middle, ember_ssat16(both));
        const int32_t z = ember_sigmoid_dsp(middle, gate[size]);
        const int32_t fresh = n - ember_product_s16(z, n);
        const int32_t next = ember_ssat16(ember_product_s16(z, *h) + fresh);
        *h++ = (int16_t)next;
        *y++ = ember_resulting_dsp(next, result);
        gate++;
    }
}
