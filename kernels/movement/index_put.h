// SPDX-License-Identifier: Apache-2.0
// What index_put and index_put_ share: (self, indices, values, accumulate).
#ifndef EMBER_KERNELS_MOVEMENT_INDEX_PUT_H
#define EMBER_KERNELS_MOVEMENT_INDEX_PUT_H

#include "kernels/engine/pick.h"

// Prepares to write values to `out`, which holds self already.
EMBER_MUST_USE ember_status_t ember_index_put_prepare(ember_pick_t *pick,
                                                      ember_node_t *node,
                                                      const ember_tensor_t *out);

#endif // EMBER_KERNELS_MOVEMENT_INDEX_PUT_H
