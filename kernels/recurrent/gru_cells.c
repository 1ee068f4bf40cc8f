// SPDX-License-Identifier: Apache-2.0
// The gates of a GRU become its next state. Contract: recurrent.h.
#include "kernels/recurrent/numbers.h"

void ember_gru_cells(const ember_recurrent_t *s, int16_t *h, int8_t *y) {
    const int32_t size = s->size;

    for (int32_t j = 0; j < size; j++) {
        const int16_t *gate = s->gates + j;
        const int32_t r = ember_sigmoid_s16(gate[0]);
        const int32_t z = ember_sigmoid_s16(gate[size]);
        const int32_t both = gate[2 * size] + ember_product_s16(r, gate[3 * size]);
        const int32_t n = ember_tanh_s16(ember_limited_s16(both));
        const int32_t fresh = n - ember_product_s16(z, n);
        const int32_t next = ember_limited_s16(ember_product_s16(z, h[j]) + fresh);
        h[j] = (int16_t)next;
        y[j] = ember_result_s8(next, &s->result);
    }
}
