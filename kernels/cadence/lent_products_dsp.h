// SPDX-License-Identifier: Apache-2.0
// Products of matrices of the dialect with the DSP instructions, by the engine of
// cortex_m.
#ifndef EMBER_KERNELS_CADENCE_LENT_PRODUCTS_DSP_H
#define EMBER_KERNELS_CADENCE_LENT_PRODUCTS_DSP_H

#include "kernels/cadence/lent_products.h"
#include "kernels/engine/dsp/matmul_s8_dsp.h"

void ember_lent_products_end_dsp(const ember_matmul_s8_t *s, const int32_t *sums,
                                 int32_t count, int32_t base, int32_t at, int8_t *c);

#define EMBER_LENT_PRODUCTS_DSP_KERNEL(NAME, READ)                                     \
    static int32_t run(void *state) {                                                  \
        ember_matmul_s8_dsp_run(state, ember_lent_products_end_dsp);                   \
        return EMBER_OK;                                                               \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        ember_matmul_s8_dsp_t *s = state;                                              \
        const ember_status_t status = READ(&s->matmul, node);                          \
        return status != EMBER_OK ? status : ember_matmul_s8_dsp_prepare(s, node);     \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_matmul_s8_dsp_t)

#endif // EMBER_KERNELS_CADENCE_LENT_PRODUCTS_DSP_H
