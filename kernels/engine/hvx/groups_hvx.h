// SPDX-License-Identifier: Apache-2.0
// Convolutions of several groups, one after the other, with Hexagon's vectors.
#ifndef EMBER_KERNELS_ENGINE_HVX_GROUPS_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_GROUPS_HVX_H

#include "kernels/engine/hvx/columns_hvx.h"

typedef struct ember_groups_hvx {
    ember_conv_s8_t conv;
    ember_columns_hvx_t columns; // of the first group
    int32_t groups;
} ember_groups_hvx_t;

// Takes the arguments in `groups->conv`. UNSUPPORTED where the output lies over the
// input too, or portable C takes fewer packets.
EMBER_MUST_USE ember_status_t ember_groups_hvx_prepare(ember_groups_hvx_t *groups,
                                                       ember_node_t *node);
// `ending` as that of columns_hvx.h.
void ember_groups_hvx_run(const ember_groups_hvx_t *groups,
                          const ember_ending_hvx_t *ending);

#endif // EMBER_KERNELS_ENGINE_HVX_GROUPS_HVX_H
