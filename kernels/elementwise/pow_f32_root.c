// SPDX-License-Identifier: Apache-2.0
// y = a to the power 0.5 or -0.5, float32 in one layout: a root, as in ATen. That of
// -inf is NaN, and that of -0.0 keeps the sign.
#include <math.h>

#include "kernels/engine/map_f32.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    if (ember_node_kind(node, 1) != EMBER_DOUBLE ||
        __builtin_fabs(ember_node_double(node, 1)) != 0.5) {
        return EMBER_UNSUPPORTED;
    }
    return ember_map_f32_scalar_prepare(node, state);
}

EMBER_MAP_F32_SCALAR(pow_f32_root, b < 0.0f ? 1.0f / sqrtf(a) : sqrtf(a));
