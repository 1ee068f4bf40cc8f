// SPDX-License-Identifier: Apache-2.0
// scatter_src and scatter_add: a copy of self with elements of src written, added or
// multiplied at indices along a dimension.
#ifndef EMBER_KERNELS_MOVEMENT_SCATTER_H
#define EMBER_KERNELS_MOVEMENT_SCATTER_H

#include "kernels/engine/along.h"
#include "kernels/engine/copy.h"

typedef struct ember_scatter {
    ember_copy_t copy;
    ember_along_t along;
} ember_scatter_t;

// `mode` unless the call names another one.
EMBER_MUST_USE ember_status_t ember_scatter_prepare(ember_node_t *node,
                                                    ember_scatter_t *scatter,
                                                    ember_along_mode_t mode);

// Returns EMBER_OK or EMBER_DATA_RANGE.
int32_t ember_scatter_run(const ember_scatter_t *scatter);

#define EMBER_SCATTER_KERNEL(NAME, MODE)                                               \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_scatter_prepare(node, state, (MODE));                             \
    }                                                                                  \
    static int32_t run(void *state) {                                                  \
        return ember_scatter_run(state);                                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_scatter_t)

#endif // EMBER_KERNELS_MOVEMENT_SCATTER_H
