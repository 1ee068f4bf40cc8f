// SPDX-License-Identifier: Apache-2.0
// How sums of products of matrices become outputs, with the DSP instructions. Contract:
// lent_products_dsp.h.
#include "kernels/cadence/lent_products_dsp.h"

#include "kernels/cadence/real_dsp.h"

void ember_lent_products_end_dsp(const ember_matmul_s8_t *s, const int32_t *sums,
                                 int32_t count, int32_t base, int32_t at, int8_t *c) {
    const float scale = ember_matmul_s8_scale(s);

    for (int32_t i = 0; i < count; i++) {
        const uint32_t bias = s->bias == NULL ? 0 : (uint32_t)s->bias[at + i];
        const uint32_t sum = (uint32_t)sums[i] + (uint32_t)base + bias;
        c[i] = ember_real_s8((int32_t)sum, scale, 1.0f, s->c_offset);
    }
}
