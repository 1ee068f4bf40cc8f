// SPDX-License-Identifier: Apache-2.0
// quantized_div, portable. Contract and formula: quantized_div.h.
#include "kernels/cortex_m/quantized_div.h"

#include "kernels/engine/mathf.h"

enum { A, A_ZERO, B, B_ZERO, Y_ZERO, SCALE };

static int32_t quotient(const ember_div_s8_t *s, int32_t a, int32_t b) {
    const int32_t under = b - s->b_zero;
    const float ratio = under == 0 ? 0.0f : (float)(a - s->a_zero) / (float)under;
    float y = ember_roundf(ratio * s->scale) + s->y_zero;
    y = y < s->low ? s->low : y;
    return (int32_t)(y > s->high ? s->high : y);
}

static void row_s8(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                   uint32_t count) {
    const ember_div_s8_t *s = state;

    for (uint32_t i = 0; i < count; i++) {
        y[i] = (int8_t)quotient(s, *a, *b);
        a += s->pair.a.step;
        b += s->pair.b.step;
    }
}

static void row_s16(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                    uint32_t count) {
    const ember_div_s8_t *s = state;
    int16_t *out = (int16_t *)(void *)y;

    for (uint32_t i = 0; i < count; i++) {
        const int32_t first = *(const int16_t *)(const void *)a;
        out[i] = (int16_t)quotient(s, first, *(const int16_t *)(const void *)b);
        a += s->pair.a.step;
        b += s->pair.b.step;
    }
}

static int32_t run(void *state) {
    return ember_div_s8_run(state, row_s8, row_s16);
}

ember_status_t ember_div_s8_prepare(ember_node_t *node, void *state) {
    ember_div_s8_t *s = state;
    ember_tensor_t a;

    ember_node_tensor(node, A, &a);
    const bool wide = a.dtype == EMBER_S16;
    s->low = wide ? INT16_MIN : INT8_MIN;
    s->high = wide ? INT16_MAX : INT8_MAX;
    s->a_zero = ember_node_int_in(node, A_ZERO, INT16_MIN, INT16_MAX);
    s->b_zero = ember_node_int_in(node, B_ZERO, INT16_MIN, INT16_MAX);
    s->y_zero = (float)ember_node_int_in(node, Y_ZERO, INT16_MIN, INT16_MAX);
    s->scale = (float)ember_node_double(node, SCALE);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!(ember_fabsf(s->scale) < EMBER_INF)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "quantized_div: the scale is not finite");
    }
    return ember_pair_prepare(node, &s->pair, B, wide ? EMBER_S16 : EMBER_S8);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_div_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_div, ember_div_s8_t);
