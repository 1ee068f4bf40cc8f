// SPDX-License-Identifier: Apache-2.0
// quantize_per_tensor to int16, portable. Contract: quantize_per_tensor_s16.h.
#include "kernels/quantized/quantize_per_tensor_s16.h"

#include "kernels/engine/mathf.h"

// 1.5 * 2^23: adding it to a number in [-2^22, 2^22) rounds that to an integer, ties to
// even, and the low bits of the sum are that integer.
#define COUNTER 12582912.0f

enum { LOW = 3, HIGH };

// Clamps before rounding: the bounds are integers, so the order does not matter.
int32_t ember_quantize_s16_run(void *state) {
    const ember_quantize_s16_t *s = state;
    const float *x = s->affine.x;
    int16_t *y = s->affine.y;
    const float low = (float)s->low, high = (float)s->high;

    for (uint32_t i = 0; i < s->affine.count; i++) {
        const float scaled = x[i] * s->affine.factor;
        float q = scaled < low ? low : scaled;
        q = q > high ? high : q;
        const int16_t number = (int16_t)(uint16_t)ember_float_bits(q + COUNTER);
        y[i] = scaled == scaled ? number : 0; // of NaN
    }
    return EMBER_OK;
}

ember_status_t ember_quantize_s16_prepare(ember_node_t *node, void *state) {
    ember_quantize_s16_t *s = state;
    const ember_status_t status = ember_affine_f32_s16_prepare(&s->affine, node, true);
    const int64_t low = ember_node_int(node, LOW), high = ember_node_int(node, HIGH);

    if (status != EMBER_OK || low < INT16_MIN || high > INT16_MAX || low > 0 ||
        high < 0) {
        return status != EMBER_OK ? status : EMBER_UNSUPPORTED;
    }
    s->low = (int16_t)low;
    s->high = (int16_t)high;
    return ember_node_status(node);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_quantize_s16_prepare(node, state);
}

static int32_t run(void *state) {
    return ember_quantize_s16_run(state);
}

EMBER_KERNEL(quantize_per_tensor_s16, ember_quantize_s16_t);
