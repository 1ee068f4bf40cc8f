// SPDX-License-Identifier: Apache-2.0
#include "numbers.h"

bool ember_xnn_range(const ember_xnn_node_t *node, ember_xnn_range_t *range) {
    const ember_xnn_value_t *value = node->out[0];
    const float zero = (float)value->zero;
    const float low = (float)INT8_MIN - zero;
    const float high = (float)INT8_MAX - zero;
    if (!xnn_is_scale(value->scale)) {
        return false;
    }
    const float inverse = 1.0f / value->scale;
    *range = (ember_xnn_range_t){
        .low = (float)xnn_round(node->low * inverse, low, high),
        .high = (float)xnn_round(node->high * inverse, low, high),
        .zero = value->zero,
    };
    return true;
}
