// SPDX-License-Identifier: Apache-2.0
// y = a / b rounded to zero; integer division by zero gives 0.
#include <math.h>
#include <string.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

EMBER_ROW2(f32, float, ember_truncf(a / b))
EMBER_ROW2(f64, double, trunc(a / b))
EMBER_ROW2(s64, int64_t, b == 0 ? 0 : b == -1 ? ember_wrap_sub(0, a) : a / b)

static const ember_map_ops_t ops = {
    {f32, f64, s64}, .inputs = 2, .flags = EMBER_MAP_NUMBER};
EMBER_MAP_RUN(2)

static ember_status_t prepare(ember_node_t *node, void *state) {
    uint32_t length = 5;
    const char *mode = "none?";
    if (ember_node_kind(node, 2) == EMBER_STRING) {
        mode = ember_node_string(node, 2, &length);
    } else if (ember_node_kind(node, 2) == EMBER_NONE) {
        return EMBER_UNSUPPORTED;
    }
    if (length != 5 || memcmp(mode, "trunc", 5) != 0) {
        return EMBER_UNSUPPORTED;
    }
    return prepare_with(node, state, &ops);
}

EMBER_STATE_MAY_POINT_TO(ops, ember_div_trunc_ops);
EMBER_KERNEL(div_trunc, ember_map2_t);
