// SPDX-License-Identifier: Apache-2.0
// y = a / b rounded to zero, float32; one operand is repeated along the other, or b is
// a number.
#include <string.h>

#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    uint32_t length = 0;
    const char *mode = "";
    if (ember_node_kind(node, 2) == EMBER_STRING) {
        mode = ember_node_string(node, 2, &length);
    }
    if (length != 5 || memcmp(mode, "trunc", 5) != 0) {
        return EMBER_UNSUPPORTED;
    }
    return ember_map_f32_either_prepare(node, state);
}

EMBER_MAP_F32_BROADCAST(div_f32_trunc, ember_truncf(a / b));
