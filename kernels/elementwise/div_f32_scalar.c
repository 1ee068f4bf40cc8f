// SPDX-License-Identifier: Apache-2.0
// y = a / b, float32 in one layout, b a number.
#include "kernels/engine/map_f32.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_map_f32_scalar_prepare(node, state);
}

EMBER_MAP_F32_SCALAR(div_f32_scalar, a / b);
