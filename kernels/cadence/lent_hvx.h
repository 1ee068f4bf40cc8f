// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect with Hexagon's vectors, by the engines of cortex_m.
#ifndef EMBER_KERNELS_CADENCE_LENT_HVX_H
#define EMBER_KERNELS_CADENCE_LENT_HVX_H

#include "kernels/cadence/lent.h"
#include "kernels/cortex_m/columns_hvx.h"

typedef struct ember_lent_hvx {
    ember_lent_t lent;
    ember_conv_s8_t conv;
    ember_columns_hvx_t columns;
} ember_lent_hvx_t;

EMBER_MUST_USE ember_status_t ember_lent_hvx_prepare(ember_lent_hvx_t *s,
                                                     const ember_conv_s8_t *conv,
                                                     ember_node_t *node);
void ember_lent_hvx_run(const ember_lent_hvx_t *s);

#endif // EMBER_KERNELS_CADENCE_LENT_HVX_H
