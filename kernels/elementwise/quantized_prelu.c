// SPDX-License-Identifier: Apache-2.0
// ember::quantized_prelu.out, portable. Contract: prelu_s8.h.
#include "kernels/elementwise/prelu_s8.h"

static int32_t run(void *state) {
    const ember_prelu_s8_t *s = state;
    size_t at = 0;

    for (uint32_t o = 0; o < s->outer; o++) {
        for (uint32_t c = 0; c < s->channels; c++) {
            ember_prelu_plane_s8(s, at, s->inner, s->scales[1 + c]);
            at += s->inner;
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_prelu_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_prelu, ember_prelu_s8_t);
