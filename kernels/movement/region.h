// SPDX-License-Identifier: Apache-2.0
// select_scatter and slice_scatter: a copy of self in which a region is src.
#ifndef EMBER_KERNELS_MOVEMENT_REGION_H
#define EMBER_KERNELS_MOVEMENT_REGION_H

#include "kernels/engine/copy.h"

typedef struct ember_region {
    ember_copy_t whole;
    ember_copy_t region;
} ember_region_t;

// `narrow` reads a region from argument `arg` on, and cuts the view down to it.
EMBER_MUST_USE ember_status_t ember_region_prepare(
    ember_node_t *node, ember_region_t *region, uint32_t out,
    void (*narrow)(ember_view_t *view, ember_node_t *node, uint32_t arg));

void ember_region_run(const ember_region_t *region);

#define EMBER_REGION_KERNEL(NAME, OUT, NARROW)                                         \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_region_prepare(node, state, (OUT), (NARROW));                     \
    }                                                                                  \
    static int32_t run(void *state) {                                                  \
        ember_region_run(state);                                                       \
        return EMBER_OK;                                                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_region_t)

#endif // EMBER_KERNELS_MOVEMENT_REGION_H
