// SPDX-License-Identifier: Apache-2.0
// quantized_mul_int16_mve: with Helium, eight elements at a time.
#include "kernels/cortex_m/pair_s16_mve.h"

typedef struct {
    int32x4_t multiplier;
    int32x4_t shift;
} by_t;

INLINE ember_wide_mve_t product_of(const void *of, int16x8_t a, int16x8_t b) {
    const by_t *by = of;

    return (ember_wide_mve_t){
        ember_scaled_mve(vmullbq_int_s16(a, b), by->multiplier, by->shift),
        ember_scaled_mve(vmulltq_int_s16(a, b), by->multiplier, by->shift),
    };
}

static int32_t run(void *state) {
    const ember_mul_s16_t *s = state;
    const by_t by = {vdupq_n_s32(s->by.multiplier), vdupq_n_s32(s->by.shift)};

    ember_pair_s16_mve(&s->pair, s->limits, product_of, &by);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_mul_s16_t *s = state;
    const ember_status_t status = ember_mul_s16_prepare(node, state);

    if (status == EMBER_OK &&
        (!ember_pair_s16_dense(&s->pair) || s->by.shift < EMBER_SHIFT_MIN_MVE ||
         s->by.shift > EMBER_SHIFT_MAX_MVE)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "ember: not for Helium");
    }
    return status;
}

EMBER_KERNEL(quantized_mul_int16_mve, ember_mul_s16_t);
