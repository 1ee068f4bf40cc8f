// SPDX-License-Identifier: Apache-2.0
// Products of matrices of the dialect with Helium, by the engine of cortex_m.
#ifndef EMBER_KERNELS_CADENCE_LENT_PRODUCTS_MVE_H
#define EMBER_KERNELS_CADENCE_LENT_PRODUCTS_MVE_H

#include "kernels/cadence/lent_products.h"
#include "kernels/engine/mve/matmul_s8_mve.h"

void ember_lent_products_end_mve(const ember_matmul_s8_t *s, const int32_t *sums,
                                 int32_t count, int8_t *c);

#define EMBER_LENT_PRODUCTS_MVE_KERNEL(NAME, READ)                                     \
    static int32_t run(void *state) {                                                  \
        ember_matmul_s8_mve_run(state, ember_lent_products_end_mve);                   \
        return EMBER_OK;                                                               \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        ember_matmul_s8_mve_t *s = state;                                              \
        const ember_status_t status = READ(&s->matmul, node);                          \
        return status != EMBER_OK ? status : ember_matmul_s8_mve_prepare(s, node);     \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_matmul_s8_mve_t)

#endif // EMBER_KERNELS_CADENCE_LENT_PRODUCTS_MVE_H
