// SPDX-License-Identifier: Apache-2.0
// Scaling of sums. Contract: requantize.h.
#include "kernels/engine/int8/requantize.h"

// A number that kernels of others may take beyond [low, high].
static int32_t taken(ember_node_t *node, uint32_t arg, int32_t low, int32_t high) {
    const int64_t number = ember_node_int(node, arg);

    if (number < low || number > high) {
        ember_node_fail(node, EMBER_UNSUPPORTED,
                        "cortex_m: this multiplier or shift is not supported");
        return 0;
    }
    return (int32_t)number;
}

ember_requantize_t ember_requantize_signed_args(ember_node_t *node,
                                                uint32_t multiplier) {
    return (ember_requantize_t){
        .multiplier = taken(node, multiplier, -INT32_MAX, INT32_MAX),
        .shift = taken(node, multiplier + 1, EMBER_REQUANTIZE_SHIFT_MIN,
                       EMBER_REQUANTIZE_SHIFT_MAX),
    };
}

ember_requantize_t ember_requantize_args(ember_node_t *node, uint32_t multiplier) {
    (void)taken(node, multiplier, 0, INT32_MAX);
    return ember_requantize_signed_args(node, multiplier);
}

int32_t ember_zero_point_arg(ember_node_t *node, uint32_t arg) {
    return ember_node_int_in(node, arg, INT8_MIN, -INT8_MIN);
}

ember_limits_s8_t ember_limits_s8_args(ember_node_t *node, uint32_t low,
                                       uint32_t high) {
    const int32_t least = ember_node_int_in(node, low, INT8_MIN, INT8_MAX);

    return (ember_limits_s8_t){
        .low = (int8_t)least,
        .high = (int8_t)ember_node_int_in(node, high, least, INT8_MAX),
    };
}

int32_t ember_requantize_wide(int32_t value, int32_t multiplier, int32_t shift) {
    const uint32_t left = shift > 0 ? (uint32_t)shift : 0;
    const uint32_t right = shift < 0 ? (uint32_t)-shift : 0;
    const uint64_t moved = (uint64_t)(int64_t)value << left;
    const uint64_t product = moved * (uint64_t)(int64_t)multiplier + (1u << 30);
    int64_t high = (int64_t)product >> 31;

    if (right > 0) {
        high = (high + ((int64_t)1 << (right - 1)) - (high < 0)) >> right;
    }
    return (int32_t)(uint32_t)(uint64_t)high;
}
