// SPDX-License-Identifier: Apache-2.0
// Convolutions and products of the dialect with Helium, by the engines of cortex_m.
#ifndef EMBER_KERNELS_CADENCE_LENT_MVE_H
#define EMBER_KERNELS_CADENCE_LENT_MVE_H

#include "kernels/cadence/lent.h"
#include "kernels/engine/mve/columns_mve.h"
#include "kernels/engine/mve/depthwise_s8_mve.h"

typedef struct ember_lent_mve {
    ember_lent_t lent;
    union {
        ember_conv_s8_t conv; // of either engine, which begins with it
        ember_columns_mve_t columns;
        ember_depthwise_s8_mve_t depthwise;
    };
} ember_lent_mve_t;

EMBER_MUST_USE ember_status_t ember_lent_mve_prepare(ember_lent_mve_t *s,
                                                     const ember_conv_s8_t *conv,
                                                     ember_node_t *node);
void ember_lent_mve_run(const ember_lent_mve_t *s);

#endif // EMBER_KERNELS_CADENCE_LENT_MVE_H
