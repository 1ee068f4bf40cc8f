// SPDX-License-Identifier: Apache-2.0
// quantized_mul, portable. Contract and formula: quantized_mul.h.
#include "kernels/cortex_m/quantized_mul.h"

#include "kernels/engine/element.h"

enum { A, A_ZERO, B, B_ZERO, Y_ZERO, Y_SCALE };
// A product of int8 and zero points has 18 bits with its sign; with fewer bits than the
// minimum, every fraction is in doubt.
enum { MOST_LEFT = 14, MOST_BITS = 20, LEAST_BITS = 16 };
// hardswish becomes x * (min(x, 3) + 3): if the scale is small, the zero point that
// contains the second 3 is far outside int8. Operands of 16 bits leave 31 for products.
enum { MOST_ZERO = 32512 };

static int8_t exact(const ember_mul_s8_t *s, int32_t product) {
    const ember_limits_s8_t limits = {INT8_MIN, INT8_MAX};
    return ember_requantize_s8(product, s->y, s->y_zero, limits);
}

static void row(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    const ember_mul_s8_t *s = state;
    const ember_limits_s8_t limits = {INT8_MIN, INT8_MAX};
    const int32_t a_zero = s->a_zero;
    const int32_t b_zero = s->b_zero;
    const int32_t a_step = s->pair.a.step;
    const int32_t b_step = s->pair.b.step;
    const int32_t multiplier = s->y.multiplier;
    const int32_t offset = s->offset;
    const uint32_t doubt = s->doubt;
    const uint32_t left = s->left;
    const uint32_t bits = s->bits;

    for (const int8_t *past = y + count; y < past; y++) {
        const int32_t product = (*a - a_zero) * (*b - b_zero);
        const int32_t moved = (int32_t)((uint32_t)product << left);
        const int64_t scaled = (int64_t)moved * multiplier;
        const int32_t estimate = (int32_t)(scaled >> 32) + offset;
        if ((uint32_t)estimate << (32 - bits) < doubt) {
            *y = exact(s, product);
        } else {
            *y = ember_limit_s8(estimate >> bits, limits);
        }
        a += a_step;
        b += b_step;
    }
}

static int32_t run(void *state) {
    const ember_mul_s8_t *s = state;
    ember_pair_s8_run(&s->pair, row, s);
    return EMBER_OK;
}

// The zero point of an operand.
static int16_t wide_zero_arg(ember_node_t *node, uint32_t arg) {
    return (int16_t)ember_node_int_in(node, arg, -MOST_ZERO, MOST_ZERO);
}

static bool is_wide(int32_t zero) {
    return zero < INT8_MIN || zero > -INT8_MIN;
}

// The reference rounds to a unit of 2^shift first; the estimate truncates.
static void set_estimate(ember_mul_s8_t *s) {
    const int32_t most = MOST_BITS + 1 + s->y.shift;
    const int32_t left = most < MOST_LEFT ? most : MOST_LEFT;
    const int32_t bits = left - 1 - s->y.shift;

    s->left = 0;
    s->bits = 1; // any number
    s->offset = 0;
    s->doubt = UINT32_MAX;
    if (left < 0 || bits < LEAST_BITS || is_wide(s->a_zero) || is_wide(s->b_zero)) {
        return;
    }
    const int32_t unit = left > 1 ? left - 1 : 0; // of the rounding, as a power of two
    const int32_t error = 3 + (1 << unit);
    s->left = (uint8_t)left;
    s->bits = (uint8_t)bits;
    s->offset = s->y_zero * (1 << bits) + (1 << (bits - 1)) + error;
    s->doubt = (uint32_t)(2 * error) << (32 - bits);
}

ember_status_t ember_mul_s8_prepare(ember_node_t *node, void *state) {
    ember_mul_s8_t *s = state;
    const ember_status_t status = ember_pair_s8_prepare(node, &s->pair, A, B);

    if (status != EMBER_OK) {
        return status;
    }
    s->y = ember_requantize_args(node, Y_SCALE);
    s->a_zero = wide_zero_arg(node, A_ZERO);
    s->b_zero = wide_zero_arg(node, B_ZERO);
    s->y_zero = (int16_t)ember_zero_point_arg(node, Y_ZERO);
    set_estimate(s);
    return ember_node_status(node);
}

ember_status_t ember_mul_s8_dense_prepare(ember_node_t *node, void *state) {
    const ember_mul_s8_t *s = state;
    const ember_status_t status = ember_mul_s8_prepare(node, state);

    if (status == EMBER_OK &&
        (!ember_pair_s8_dense(&s->pair) || s->y.shift > -1 || s->y.shift < -31)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "quantized_mul: wrong scales or shift");
    }
    return status;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_mul_s8_t *s = state;
    const ember_status_t status = ember_mul_s8_prepare(node, state);

    // Numbers may leave each estimate in doubt.
    ember_node_work(node, s->pair.rows * s->pair.count, EMBER_STEPS_ANY);
    return status;
}

EMBER_KERNEL(quantized_mul, ember_mul_s8_t);
