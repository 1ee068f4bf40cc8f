// SPDX-License-Identifier: Apache-2.0
// What the kernels of quantized_add share. Contract: quantized_add_s8.h.
#include "kernels/cortex_m/quantized_add_s8.h"

enum {
    A,
    A_ZERO,
    A_SCALE,
    B = 4,
    B_ZERO,
    B_SCALE,
    Y_ZERO = 8,
    Y_SCALE,
    LOW = 11,
    HIGH
};
enum { HEADROOM = 20 }; // bits that q() shifts to the left

int8_t ember_add_s8_exact(const ember_add_s8_t *s, int32_t a, int32_t b) {
    const int32_t qa = ember_requantize((a - s->a_zero) * (1 << HEADROOM),
                                        s->a.multiplier, s->a.shift);
    const int32_t qb = ember_requantize((b - s->b_zero) * (1 << HEADROOM),
                                        s->b.multiplier, s->b.shift);
    const int32_t sum = (int32_t)((uint32_t)qa + (uint32_t)qb);
    return ember_requantize_s8(sum, s->y, s->y_zero, s->limits);
}

enum { NO_FACTOR = INT32_MAX };

static int64_t size_of(int32_t factor) {
    return factor < 0 ? -(int64_t)factor : factor;
}

// An operand's share of the estimate, rounded: its scale times that of y. NO_FACTOR if
// an estimate cannot use it.
static int32_t factor_of(ember_requantize_t x, ember_requantize_t y) {
    const uint64_t product =
        (uint64_t)size_of(x.multiplier) * (uint64_t)size_of(y.multiplier);
    const int32_t right = 62 - EMBER_ADD_BITS - HEADROOM - x.shift - y.shift;
    if (right < 1 || right > 62 || x.shift < -31 || x.shift > 2) {
        return NO_FACTOR;
    }
    const uint64_t factor = ((product >> (right - 1)) + 1) >> 1;
    if (factor >= 1 << 23) {
        return NO_FACTOR;
    }
    return x.multiplier < 0 ? -(int32_t)factor : (int32_t)factor;
}

// The reference rounds q(a) and q(b) twice each, which is up to 1 off, and their sum
// once before it becomes y; the factors are half a unit off for each of at most 256
// steps.
static void set_estimate(ember_add_s8_t *s) {
    const int32_t one = 1 << EMBER_ADD_BITS;
    const int32_t a_factor = factor_of(s->a, s->y);
    const int32_t b_factor = factor_of(s->b, s->y);
    s->a_factor = 0;
    s->b_factor = 0;
    s->offset = 0;
    s->doubt = UINT32_MAX;
    if (a_factor == NO_FACTOR || b_factor == NO_FACTOR || s->y.shift > -8 ||
        s->y.shift < -31) {
        return;
    }
    const int32_t unit = EMBER_ADD_BITS + s->y.shift; // of q(), as a power of two
    const int32_t error = 260 + (unit > 0 ? 3 << unit : 3);
    const int64_t factors = size_of(a_factor) + size_of(b_factor);
    const int64_t most = 256 * factors + (int64_t)130 * one;
    if (most > INT32_MAX) {
        return;
    }
    s->a_factor = a_factor;
    s->b_factor = b_factor;
    s->offset =
        s->y_zero * one + one / 2 + error - s->a_zero * a_factor - s->b_zero * b_factor;
    s->doubt = (uint32_t)(2 * error) << (32 - EMBER_ADD_BITS);
}

ember_status_t ember_add_s8_read(ember_node_t *node, ember_add_s8_t *s) {
    const ember_status_t status = ember_pair_s8_prepare(node, &s->pair, A, B);

    if (status != EMBER_OK) {
        return status;
    }
    s->a = ember_requantize_signed_args(node, A_SCALE); // < 0: it is subtracted
    s->b = ember_requantize_signed_args(node, B_SCALE);
    s->y = ember_requantize_args(node, Y_SCALE);
    s->a_zero = (int16_t)ember_zero_point_arg(node, A_ZERO);
    s->b_zero = (int16_t)ember_zero_point_arg(node, B_ZERO);
    s->y_zero = (int16_t)ember_zero_point_arg(node, Y_ZERO);
    s->limits = ember_limits_s8_args(node, LOW, HIGH);
    return ember_node_status(node);
}

ember_status_t ember_add_s8_prepare(ember_node_t *node, void *state) {
    ember_add_s8_t *s = state;
    const ember_status_t status = ember_add_s8_read(node, s);

    if (status != EMBER_OK) {
        return status;
    }
    if (ember_add_s8_is_floats(s->y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "quantized_add: of executorch 1.0");
    }
    set_estimate(s);
    return EMBER_OK;
}
