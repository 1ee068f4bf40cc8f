// SPDX-License-Identifier: Apache-2.0
// Copies with a change of dtype, and broadcasting.
#ifndef EMBER_KERNELS_ENGINE_CONVERT_H
#define EMBER_KERNELS_ENGINE_CONVERT_H

#include "kernels/engine/element.h"
#include "kernels/engine/strided.h"
#include "kernels/engine/view.h"

typedef struct ember_convert {
    char *dst;
    char *src; // only read
    uint8_t dst_dtype;
    uint8_t src_dtype;
    uint8_t dims; // of the table; 0: nothing to do
    int32_t table[EMBER_WALK_ITEMS(2)];
} ember_convert_t;

// `src` must broadcast to the shape of `dst`.
EMBER_MUST_USE ember_status_t ember_convert_prepare(ember_convert_t *convert,
                                                    ember_node_t *node,
                                                    const ember_tensor_t *dst,
                                                    const ember_tensor_t *src);

// The same between views of one shape.
EMBER_MUST_USE ember_status_t ember_convert_views(ember_convert_t *convert,
                                                  ember_node_t *node,
                                                  const ember_view_t *dst,
                                                  const ember_view_t *src);

void ember_convert_run(const ember_convert_t *convert);

#endif // EMBER_KERNELS_ENGINE_CONVERT_H
