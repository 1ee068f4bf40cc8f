// SPDX-License-Identifier: Apache-2.0
// quantized_add as executorch 1.0 defines it, in float32:
//
//     y = round(((a - zero) * scale + (b - zero) * scale) / 0.25) + zero
//
// ties to even. Its output always has the multiplier 2^30 and the shift -1; later
// versions, which have the same arguments, would need scales 2^18 apart for those.
#include "kernels/cortex_m/quantized_add_s8.h"
#include "kernels/engine/mathf.h"

static float scale_of(ember_requantize_t by) {
    return (float)by.multiplier * ember_pow2(by.shift - 31);
}

static void row(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    static const float most = 512.0f; // more than any int8 minus a zero point
    const ember_add_s8_t *s = state;
    const float a_scale = scale_of(s->a);
    const float b_scale = scale_of(s->b);

    for (uint32_t i = 0; i < count; i++) {
        const float scaled = (float)(*a - s->a_zero) * a_scale;
        float sum = (scaled + (float)(*b - s->b_zero) * b_scale) * 4.0f;
        sum = sum < most ? sum : most;
        sum = sum > -most ? sum : -most;
        y[i] = ember_limit_s8((int32_t)ember_roundf(sum) + s->y_zero, s->limits);
        a += s->pair.a.step;
        b += s->pair.b.step;
    }
}

static int32_t run(void *state) {
    const ember_add_s8_t *s = state;
    ember_pair_s8_run(&s->pair, row, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_add_s8_t *s = state;
    const ember_status_t status = ember_add_s8_read(node, s);

    if (status == EMBER_OK &&
        (!ember_add_s8_is_floats(s->y) || s->a.multiplier < 0 || s->b.multiplier < 0)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "quantized_add: not of executorch 1.0");
    }
    return status;
}

EMBER_KERNEL(quantized_add_s8_floats, ember_add_s8_t);
