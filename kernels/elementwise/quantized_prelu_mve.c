// SPDX-License-Identifier: Apache-2.0
// quantized_prelu with Helium, four elements or channels at a time. Contract: prelu_s8.h.
#include "kernels/elementwise/prelu_s8.h"
#include "kernels/engine/mve/limited_mve.h"

#define INLINE static inline __attribute__((always_inline))

enum { FOUR = 4 };

INLINE void some(const ember_prelu_s8_t *s, size_t at, int32x4_t slopes,
                 mve_pred16_t lanes) {
    const int32x4_t moved = vsubq_n_s32(vldrbq_z_s32(s->x + at, lanes), s->zero_point);
    const mve_pred16_t negative = vcmpleq_n_s32(moved, -1);
    const int32x4_t by = vpselq_s32(slopes, vdupq_n_s32(s->scales[0]), negative);
    const int32x4_t y =
        vshlq_r_s32(vmlasq_n_s32(moved, by, s->start), -(int32_t)s->shift);
    ember_store_limited_mve(s->y + at, y, lanes);
}

static void planes(const ember_prelu_s8_t *s) {
    size_t at = 0;

    for (uint32_t i = 0; i < s->outer * s->channels; i++) {
        const int32x4_t slopes = vdupq_n_s32(s->scales[1 + i % s->channels]);
        for (uint32_t j = 0; j < s->inner; j += FOUR) {
            some(s, at + j, slopes, vctp32q(s->inner - j));
        }
        at += s->inner;
    }
}

// Channels last.
static void pixels(const ember_prelu_s8_t *s) {
    for (uint32_t c = 0; c < s->channels; c += FOUR) {
        const mve_pred16_t lanes = vctp32q(s->channels - c);
        const int32x4_t slopes = vldrwq_z_s32(s->scales + 1 + c, lanes);
        size_t at = c;
        for (uint32_t o = s->outer; o > 0; o--) {
            some(s, at, slopes, lanes);
            at += s->channels;
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
