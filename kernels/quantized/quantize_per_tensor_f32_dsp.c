// SPDX-License-Identifier: Apache-2.0
// quantize_per_tensor with the DSP extension: float32 to the full range of int8.
// Contract: quantize_per_tensor_f32.h.
//
// Adding a large constant rounds; the bits of the sum count integers as long as it is
// positive, and saturating arithmetic clamps them to the range. NaN shows in the sum of
// all elements; then the portable kernel computes everything again.
#include "kernels/engine/dsp/bytes_dsp.h"
#include "kernels/engine/mathf.h"
#include "kernels/quantized/quantize_per_tensor_f32.h"

#define COUNTER      12582912.0f // 1.5 * 2^23
#define COUNTER_BITS 0x4b400000

static inline int8_t one(float scaled, int32_t offset) {
    const int32_t bits = (int32_t)ember_float_bits(scaled + COUNTER);
    return ember_cut_8(__qsub(bits, offset));
}

int32_t ember_quantize_f32_dsp_run(void *state) {
    const ember_quantize_f32_t *s = state;
    const float *x = s->affine.x;
    int8_t *y = s->affine.y;
    const float factor = s->affine.factor;
    const int32_t offset = COUNTER_BITS - (int32_t)s->affine.zero_point;
    const float *past = x + s->affine.count / 4 * 4;
    float sum = 0.0f;

    if (!ember_quantize_f32_apart(s)) {
        return ember_quantize_f32_run(state);
    }
    for (; x < past; x += 4, y += 4) {
        const float a = x[0] * factor;
        const float b = x[1] * factor;
        const float c = x[2] * factor;
        const float d = x[3] * factor;
        sum += a + b + c + d;
        y[0] = one(a, offset);
        y[1] = one(b, offset);
        y[2] = one(c, offset);
        y[3] = one(d, offset);
    }
    for (past += s->affine.count % 4; x < past; x++) {
        sum += *x * factor;
        *y++ = one(*x * factor, offset);
    }
    return sum != sum ? ember_quantize_f32_run(state) : EMBER_OK;
}

static int32_t run(void *state) {
    return ember_quantize_f32_dsp_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_status_t status = ember_quantize_f32_prepare(node, state);

    if (status == EMBER_OK && !ember_quantize_f32_is_plain(state)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "quantize_dsp: unsupported range or scale");
    }
    return status;
}

EMBER_KERNEL(quantize_per_tensor_f32_dsp, ember_quantize_f32_t);
