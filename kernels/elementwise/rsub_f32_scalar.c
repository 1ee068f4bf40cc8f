// SPDX-License-Identifier: Apache-2.0
// y = b - a, float32 in one layout, b a number; alpha is 1.
#include "kernels/engine/map_f32.h"
#include "kernels/engine/scalar.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    if (!ember_scalar_is_one(ember_scalar_arg(node, 2))) {
        return EMBER_UNSUPPORTED;
    }
    return ember_map_f32_scalar_prepare(node, state);
}

EMBER_MAP_F32_SCALAR(rsub_f32_scalar, b - a);
