// SPDX-License-Identifier: Apache-2.0
// y = a / b rounded down, float32; one operand is repeated along the other, or b is a
// number.
#include <string.h>

#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    uint32_t length = 5;
    const char *mode = "floor"; // for floor_divide, which has no mode
    if (ember_node_kind(node, 2) == EMBER_STRING) {
        mode = ember_node_string(node, 2, &length);
    } else if (ember_node_kind(node, 2) == EMBER_NONE) {
        return EMBER_UNSUPPORTED;
    }
    if (length != 5 || memcmp(mode, "floor", 5) != 0) {
        return EMBER_UNSUPPORTED;
    }
    return ember_map_f32_rest_prepare(node, state);
}

EMBER_MAP_F32_BROADCAST(div_f32_floor, ember_floor_dividef(a, b));
