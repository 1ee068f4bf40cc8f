// SPDX-License-Identifier: Apache-2.0
// quantize_per_tensor, portable. Contract: quantize_per_tensor_f32.h.
#include "kernels/quantized/quantize_per_tensor_f32.h"

#include "kernels/engine/mathf.h"

// 1.5 * 2^23: adding it to a number in [-2^22, 2^22) rounds that to an integer, ties to
// even, and the low bits of the sum are that integer.
#define COUNTER      12582912.0f
#define COUNTER_BITS 0x4b400000
#define FACTOR_MIN   0x1p-126f  // a normal number
#define FACTOR_MAX   0x1p120f   // denormals times this round to 0
#define FAR          4000000.0f // of a zero point: ranges stay in [-2^22, 2^22)

static inline bool is_nan(float x) {
    return (ember_float_bits(x) & 0x7fffffffu) > 0x7f800000u;
}

// Clamps before rounding: the bounds are integers, so the order does not matter.
static void run_near(const ember_quantize_f32_t *s, float factor, float zero_point) {
    const float *x = s->affine.x;
    uint8_t *y = s->affine.y;
    const uint32_t count = s->affine.count;
    const float low = s->low - zero_point;
    const float high = s->high - zero_point;
    const int32_t offset = (int32_t)zero_point - COUNTER_BITS;
    const uint8_t nothing = (uint8_t)s->nothing;

    for (uint32_t i = 0; i < count; i++) {
        const float scaled = x[i] * factor;
        float q = scaled < low ? low : scaled;
        q = q > high ? high : q;
        const int32_t number = (int32_t)ember_float_bits(q + COUNTER) + offset;
        y[i] = is_nan(scaled) ? nothing : (uint8_t)number;
    }
}

static void run_far(const ember_quantize_f32_t *s, float factor, float zero_point) {
    const float *x = s->affine.x;
    uint8_t *y = s->affine.y;
    const uint32_t count = s->affine.count;
    const float nothing = (float)s->nothing;

    for (uint32_t i = 0; i < count; i++) {
        const float q = ember_roundf(x[i] * factor) + zero_point;
        y[i] = (uint8_t)(int32_t)ember_cut_f32(q, s->low, s->high, nothing);
    }
}

int32_t ember_quantize_f32_run(void *state) {
    const ember_quantize_f32_t *s = state;
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

ember_status_t ember_quantize_f32_prepare(ember_node_t *node, void *state) {
    ember_quantize_f32_t *s = state;
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
    s->low = (float)(int32_t)least;
    s->high = (float)(int32_t)most;
    s->nothing = 0;
    return ember_node_status(node);
}

static bool is_normal(const ember_quantize_f32_t *s) {
    const ember_affine_f32_t *affine = &s->affine;
    return affine->scale == NULL && affine->zero == NULL &&
           affine->factor >= FACTOR_MIN && affine->factor <= FACTOR_MAX;
}

bool ember_quantize_f32_is_plain(const ember_quantize_f32_t *s) {
    const float zero = s->affine.zero_point;
    return is_normal(s) && s->affine.integers == EMBER_S8 &&
           s->low == (float)INT8_MIN && s->high == (float)INT8_MAX &&
           zero >= (float)INT8_MIN && zero <= (float)INT8_MAX;
}

bool ember_quantize_f32_apart(const ember_quantize_f32_t *s) {
    const uintptr_t x = (uintptr_t)s->affine.x;
    const uintptr_t y = (uintptr_t)s->affine.y;
    return y >= x + s->affine.count * sizeof(float) || x >= y + s->affine.count;
}

ember_status_t ember_quantize_cadence_prepare(ember_node_t *node, void *state) {
    ember_quantize_f32_t *s = state;
    const ember_status_t status = ember_quantize_f32_prepare(node, s);

    if (status == EMBER_OK && !ember_quantize_f32_is_plain(s)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cadence quantize: unsupported range or scale");
    }
    s->nothing = INT8_MIN;
    return status;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_quantize_f32_prepare(node, state);
}

static int32_t run(void *state) {
    return ember_quantize_f32_run(state);
}

EMBER_KERNEL(quantize_per_tensor_f32, ember_quantize_f32_t);
