// SPDX-License-Identifier: Apache-2.0
// quantized_mul, portable. Contract and formula: quantized_mul.h.
#include "kernels/cortex_m/quantized_mul.h"

enum { A, A_ZERO, B, B_ZERO, Y_ZERO, Y_SCALE };

static void row(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    const ember_mul_s8_t *s = state;
    const ember_limits_s8_t limits = {INT8_MIN, INT8_MAX};

    for (uint32_t i = 0; i < count; i++) {
        const int32_t product = (*a - s->a_zero) * (*b - s->b_zero);
        y[i] = ember_requantize_s8(product, s->y, s->y_zero, limits);
        a += s->pair.a.step;
        b += s->pair.b.step;
    }
}

static int32_t run(void *state) {
    const ember_mul_s8_t *s = state;
    ember_pair_s8_run(&s->pair, row, s);
    return EMBER_OK;
}

ember_status_t ember_mul_s8_prepare(ember_node_t *node, void *state) {
    ember_mul_s8_t *s = state;
    const ember_status_t status = ember_pair_s8_prepare(node, &s->pair, A, B);

    if (status != EMBER_OK) {
        return status;
    }
    s->y = ember_requantize_args(node, Y_SCALE);
    s->a_zero = (int16_t)ember_zero_point_arg(node, A_ZERO);
    s->b_zero = (int16_t)ember_zero_point_arg(node, B_ZERO);
    s->y_zero = (int16_t)ember_zero_point_arg(node, Y_ZERO);
    return ember_node_status(node);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_mul_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_mul, ember_mul_s8_t);
