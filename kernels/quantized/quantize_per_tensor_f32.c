// SPDX-License-Identifier: Apache-2.0
// quantize_per_tensor: float32 to int8 or uint8 in one memory layout.
#include "kernels/engine/affine_f32.h"
#include "kernels/engine/mathf.h"

// 1.5 * 2^23: added to a number in [-2^22, 2^22), the adder rounds it to an integer,
// halves to even, and the bits of the sum count that integer.
#define COUNTER      12582912.0f
#define COUNTER_BITS 0x4b400000
#define FAR          4000000.0f // of a zero point: the ranges stay in [-2^22, 2^22)

typedef struct quantize {
    ember_affine_f32_t affine;
    float low; // the range
    float high;
} quantize_t;

static inline bool is_nan(float x) {
    return (ember_float_bits(x) & 0x7fffffffu) > 0x7f800000u;
}

// Clamps before rounding: the range is of integers, so that changes nothing.
static void run_near(const quantize_t *s, float factor, float zero_point) {
    const float *x = s->affine.x;
    uint8_t *y = s->affine.y;
    const uint32_t count = s->affine.count;
    const float low = s->low - zero_point;
    const float high = s->high - zero_point;
    const int32_t offset = (int32_t)zero_point - COUNTER_BITS;

    for (uint32_t i = 0; i < count; i++) {
        const float scaled = x[i] * factor;
        float q = scaled < low ? low : scaled;
        q = q > high ? high : q;
        const int32_t number = (int32_t)ember_float_bits(q + COUNTER) + offset;
        y[i] = is_nan(scaled) ? 0 : (uint8_t)number;
    }
}

static void run_far(const quantize_t *s, float factor, float zero_point) {
    const float *x = s->affine.x;
    uint8_t *y = s->affine.y;
    const uint32_t count = s->affine.count;

    for (uint32_t i = 0; i < count; i++) {
        const float q = ember_roundf(x[i] * factor) + zero_point;
        y[i] = (uint8_t)(int32_t)ember_cut_f32(q, s->low, s->high, 0.0f);
    }
}

static int32_t run(void *state) {
    const quantize_t *s = state;
    float factor;
    float zero_point;
    ember_affine_f32_read(&s->affine, &factor, &zero_point);
    if (ember_fabsf(zero_point) < FAR) {
        run_near(s, factor, zero_point);
    } else {
        run_far(s, factor, zero_point);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    quantize_t *s = state;
    int64_t low = 0;
    int64_t high = 0;
    const ember_status_t status = ember_affine_f32_prepare(&s->affine, node, true);
    if (status != EMBER_OK) {
        return status;
    }
    (void)ember_quantized_range(s->affine.integers, &low, &high);
    const int64_t least = ember_node_int(node, 3);
    const int64_t most = ember_node_int(node, 4);
    if (least < low || most > high || least > most) {
        return EMBER_UNSUPPORTED; // for the general kernel to judge
    }
    s->low = (float)least;
    s->high = (float)most;
    return ember_node_status(node);
}

EMBER_KERNEL(quantize_per_tensor_f32, quantize_t);
