// SPDX-License-Identifier: Apache-2.0
// How sums of products of matrices become outputs, with the DSP instructions. Contract:
// lent_products_dsp.h.
#include "kernels/cadence/lent_products_dsp.h"

#include "kernels/cadence/real_dsp.h"

void ember_lent_products_end_dsp(const ember_matmul_s8_t *s, const int32_t *sums,
                                 int32_t count, int32_t base, int32_t at, int8_t *c) {
    static const int32_t none = 0;
    const bool biased = s->bias != NULL;
    const ember_real_start_dsp_t start = {biased ? s->bias + at : &none, biased, base};
    const ember_real_dsp_t by = {ember_matmul_s8_scale(s), 1.0f, s->c_offset};

    ember_real_store_dsp(&by, sums, count, start, c);
}
