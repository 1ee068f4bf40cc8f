// SPDX-License-Identifier: Apache-2.0
// permute_copy: permutes the dimensions. The state is an ember_copy_t.
#ifndef EMBER_KERNELS_MOVEMENT_PERMUTE_COPY_H
#define EMBER_KERNELS_MOVEMENT_PERMUTE_COPY_H

#include "kernels/engine/copy.h"

EMBER_MUST_USE ember_status_t ember_permute_copy_prepare(ember_node_t *node,
                                                         void *state);

#endif // EMBER_KERNELS_MOVEMENT_PERMUTE_COPY_H
