// SPDX-License-Identifier: Apache-2.0
// clamp_s8 with the DSP extension, four at a time. Contract: clamp_s8.h.
#include "kernels/elementwise/clamp_s8.h"
#include "kernels/engine/dsp/bytes_dsp.h"

static int32_t run(void *state) {
    const ember_clamp_s8_t *s = state;
    const uint32_t low = ember_word_of(s->low);
    const uint32_t high = ember_word_of(s->high);
    const int8_t *a = s->a;
    int8_t *y = s->y;
    uint32_t left = s->count;

    for (; left >= 4; left -= 4, a += 4, y += 4) {
        const uint32_t least = ember_word_max(ember_word_load(a), low);
        ember_word_store(y, ember_word_min(least, high));
    }
    for (; left > 0; left--, a++) {
        const int8_t least = *a > s->low ? *a : s->low;
        *y++ = least < s->high ? least : s->high;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_clamp_s8_prepare(node, state);
}

EMBER_KERNEL(clamp_s8_dsp, ember_clamp_s8_t);
