// SPDX-License-Identifier: Apache-2.0
// quantized_prelu with Helium, four elements or channels at a time. Contract:
// prelu_s8.h.
#include "kernels/cortex_m/prelu_s8.h"
#include "kernels/engine/mve/limited_mve.h"

#define INLINE static inline __attribute__((always_inline))

enum { FOUR = 4 };

// What a loop keeps in registers: y may be anything.
typedef struct {
    int32x4_t slopes;
    int32x4_t positive;
    int32_t zero_point;
    int32_t start;
    int32_t left; // -shift
} factors_t;

INLINE factors_t factors_of(const ember_prelu_s8_t *s, int32x4_t slopes) {
    return (factors_t){slopes, vdupq_n_s32(s->scales[0]), s->zero_point, s->start,
                       -(int32_t)s->shift};
}

INLINE void some(int8_t *y, const int8_t *x, factors_t by, mve_pred16_t lanes) {
    const int32x4_t moved = vsubq_n_s32(vldrbq_z_s32(x, lanes), by.zero_point);
    const mve_pred16_t negative = vcmpleq_n_s32(moved, -1);
    const int32x4_t factors = vpselq_s32(by.slopes, by.positive, negative);
    const int32x4_t line = vmlasq_n_s32(moved, factors, by.start);
    ember_store_limited_mve(y, vshlq_r_s32(line, by.left), lanes);
}

static void planes(const ember_prelu_s8_t *s) {
    const int8_t *x = s->x;
    int8_t *y = s->y;

    for (uint32_t i = 0; i < s->outer * s->channels; i++) {
        const uint32_t inner = s->inner;
        const factors_t by = factors_of(s, vdupq_n_s32(s->scales[1 + i % s->channels]));
        for (uint32_t j = 0; j < inner; j += FOUR) {
            some(y + j, x + j, by, vctp32q(inner - j));
        }
        x += inner;
        y += inner;
    }
}

// Channels last.
static void pixels(const ember_prelu_s8_t *s) {
    const uint32_t channels = s->channels;

    for (uint32_t c = 0; c < channels; c += FOUR) {
        const mve_pred16_t lanes = vctp32q(channels - c);
        const factors_t by = factors_of(s, vldrwq_z_s32(s->scales + 1 + c, lanes));
        const int8_t *x = s->x + c;
        int8_t *y = s->y + c;
        for (uint32_t o = s->outer; o > 0; o--) {
            some(y, x, by, lanes);
            x += channels;
            y += channels;
        }
    }
}

static int32_t run(void *state) {
    const ember_prelu_s8_t *s = state;

    if (s->inner == 1 && s->channels > 1) {
        pixels(s);
    } else {
        planes(s);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_prelu_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_prelu_mve, ember_prelu_s8_t);
