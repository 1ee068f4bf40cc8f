// SPDX-License-Identifier: Apache-2.0
// Products of matrices of the dialect with Hexagon's vectors, by the engine of
// cortex_m.
#ifndef EMBER_KERNELS_CADENCE_LENT_PRODUCTS_HVX_H
#define EMBER_KERNELS_CADENCE_LENT_PRODUCTS_HVX_H

#include "kernels/cadence/lent_products.h"
#include "kernels/cadence/real_hvx.h"
#include "kernels/engine/hvx/matmul_s8_hvx.h"

typedef struct ember_lent_products_hvx {
    ember_matmul_s8_hvx_t products;
    ember_real_hvx_t real;
} ember_lent_products_hvx_t;

// Takes `s->products.matmul`, which is read already.
EMBER_MUST_USE ember_status_t
ember_lent_products_hvx_prepare(ember_lent_products_hvx_t *s, ember_node_t *node);
void ember_lent_products_hvx_run(const ember_lent_products_hvx_t *s);

#define EMBER_LENT_PRODUCTS_HVX_KERNEL(NAME, READ)                                     \
    static int32_t run(void *state) {                                                  \
        ember_lent_products_hvx_run(state);                                            \
        return EMBER_OK;                                                               \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        ember_lent_products_hvx_t *s = state;                                          \
        const ember_status_t status = READ(&s->products.matmul, node);                 \
        return status != EMBER_OK ? status : ember_lent_products_hvx_prepare(s, node); \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_lent_products_hvx_t)

#endif // EMBER_KERNELS_CADENCE_LENT_PRODUCTS_HVX_H
