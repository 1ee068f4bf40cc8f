// SPDX-License-Identifier: Apache-2.0
// ember::quantized_prelu.out, portable. Contract: prelu_s8.h.
#include "kernels/elementwise/prelu_s8.h"

static int32_t run(void *state) {
    const ember_prelu_s8_t *s = state;
    const int32_t positive = s->scales[0];
    const int32_t *slopes = s->scales + 1;
    const int8_t *x = s->x;
    int8_t *y = s->y;

    for (uint32_t o = 0; o < s->outer; o++) {
        for (uint32_t c = 0; c < s->channels; c++) {
            for (uint32_t i = 0; i < s->inner; i++) {
                *y++ = ember_prelu_of_s8(s, *x++, positive, slopes[c]);
            }
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_prelu_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_prelu, ember_prelu_s8_t);
