// SPDX-License-Identifier: Apache-2.0
// clamp_s8, portable. Contract: clamp_s8.h.
#include "kernels/elementwise/clamp_s8.h"

enum { A, LOW, HIGH, OUT };
enum { RELU_OUT = 1, RELU_MOST_ARGS = 3 }; // the operator without bounds

static int32_t run(void *state) {
    const ember_clamp_s8_t *s = state;
    const int8_t *a = s->a;
    const int32_t low = s->low;
    const int32_t high = s->high;
    int8_t *y = s->y;

    for (const int8_t *past = y + s->count; y < past; y++) {
        const int32_t least = *a > low ? *a : low;
        *y = (int8_t)(least < high ? least : high);
        a++;
    }
    return EMBER_OK;
}

// A bound; `none` if there is none. A real number is left to the generic kernel, as is
// one that does not fit int8.
static int8_t bound(ember_node_t *node, uint32_t arg, int8_t none, bool *known) {
    const ember_kind_t kind = ember_node_kind(node, arg);

    if (kind == EMBER_NONE) {
        return none;
    }
    const int64_t number = kind == EMBER_INT ? ember_node_int(node, arg) : INT64_MAX;
    *known &= number >= INT8_MIN && number <= INT8_MAX;
    return (int8_t)number;
}

ember_status_t ember_clamp_s8_prepare(ember_node_t *node, void *state) {
    ember_clamp_s8_t *s = state;
    ember_tensor_t a;
    ember_tensor_t y;
    bool known = true;

    const bool relu = ember_node_arg_count(node) <= RELU_MOST_ARGS;
    const int8_t low = relu ? 0 : bound(node, LOW, INT8_MIN, &known);
    const int8_t high = relu ? INT8_MAX : bound(node, HIGH, INT8_MAX, &known);
    if (!known || low > high) {
        return EMBER_UNSUPPORTED;
    }
    ember_node_tensor(node, A, &a);
    ember_node_output_like(node, relu ? RELU_OUT : OUT, &a, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (a.dtype != EMBER_S8 || y.dtype != EMBER_S8 ||
        !ember_tensor_same_order(&a, &y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "clamp_s8: wrong dtype or layout");
    }
    *s = (ember_clamp_s8_t){a.data, y.data, a.numel, low, high};
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_clamp_s8_prepare(node, state);
}

EMBER_KERNEL(clamp_s8, ember_clamp_s8_t);
