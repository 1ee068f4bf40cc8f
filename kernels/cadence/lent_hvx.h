// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect with Hexagon's vectors, by the engines of cortex_m.
#ifndef EMBER_KERNELS_CADENCE_LENT_HVX_H
#define EMBER_KERNELS_CADENCE_LENT_HVX_H

#include "kernels/cadence/lent.h"
#include "kernels/cadence/real_hvx.h"
#include "kernels/engine/hvx/columns_hvx.h"
#include "kernels/engine/hvx/depthwise_hvx.h"
#include "kernels/engine/hvx/groups_hvx.h"

typedef struct ember_lent_hvx {
    ember_lent_t lent;
    union {
        ember_conv_s8_t conv; // of each engine, which begins with it
        ember_columns_conv_hvx_t columns;
        ember_groups_hvx_t groups;
        ember_depthwise_hvx_t depthwise;
    };
    ember_real_hvx_t real;
} ember_lent_hvx_t;

EMBER_MUST_USE ember_status_t ember_lent_hvx_prepare(ember_lent_hvx_t *s,
                                                     const ember_conv_s8_t *conv,
                                                     ember_node_t *node);
void ember_lent_hvx_run(const ember_lent_hvx_t *s);
void ember_turn_hvx(int8_t *to, const int8_t *from, int32_t rows, int32_t columns);

#endif // EMBER_KERNELS_CADENCE_LENT_HVX_H
