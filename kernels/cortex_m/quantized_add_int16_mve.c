// SPDX-License-Identifier: Apache-2.0
// quantized_add_int16_mve: with Helium, eight elements at a time.
#include "kernels/cortex_m/pair_s16_mve.h"

typedef struct {
    int16x8_t a;
    int16x8_t b;
    int32x4_t shift;
} by_t;

INLINE ember_wide_mve_t sum_of(const void *of, int16x8_t a, int16x8_t b) {
    const by_t *by = of;
    const int32x4_t even =
        vaddq_s32(vmullbq_int_s16(a, by->a), vmullbq_int_s16(b, by->b));
    const int32x4_t odd =
        vaddq_s32(vmulltq_int_s16(a, by->a), vmulltq_int_s16(b, by->b));

    return (ember_wide_mve_t){vrshlq_s32(even, by->shift), vrshlq_s32(odd, by->shift)};
}

static int32_t run(void *state) {
    const ember_add_s16_t *s = state;
    const by_t by = {vdupq_n_s16(s->a_by), vdupq_n_s16(s->b_by),
                     vdupq_n_s32(-s->shift)};

    ember_pair_s16_mve(&s->pair, s->limits, sum_of, &by);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_add_s16_t *s = state;
    const ember_status_t status = ember_add_s16_prepare(node, state);

    if (status == EMBER_OK && !ember_pair_s16_dense(&s->pair)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "ember: not for Helium");
    }
    return status;
}

EMBER_KERNEL(quantized_add_int16_mve, ember_add_s16_t);
