// SPDX-License-Identifier: Apache-2.0
// reflection_pad and replication_pad: extend the last one to three dimensions. Negative
// amounts cut elements off.
#ifndef EMBER_KERNELS_MOVEMENT_EDGE_PAD_H
#define EMBER_KERNELS_MOVEMENT_EDGE_PAD_H

#include "kernels/engine/remap.h"

EMBER_MUST_USE ember_status_t ember_edge_pad_prepare(ember_node_t *node,
                                                     ember_remap_t *remap,
                                                     ember_remap_mode_t mode);

#define EMBER_EDGE_PAD_KERNEL(NAME, MODE)                                              \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_edge_pad_prepare(node, state, (MODE));                            \
    }                                                                                  \
    static int32_t run(void *state) {                                                  \
        ember_remap_run(state);                                                        \
        return EMBER_OK;                                                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_remap_t)

#endif // EMBER_KERNELS_MOVEMENT_EDGE_PAD_H
