// SPDX-License-Identifier: Apache-2.0
// ember::packed_conv2d.out: weights are unpacked in every run.
#include "kernels/engine/int8/conv_s8_run.h"
#include "kernels/engine/int8/packed_s8.h"

typedef struct {
    ember_conv_s8_t conv;
    int8_t *unpacked; // (filters, height.kernel, width.kernel, depth)
    int32_t fours;    // of a row of taps
} state_t;

static int32_t run(void *state) {
    const state_t *s = state;
    ember_conv_s8_t conv = s->conv;

    ember_packed_s8_unpack(&s->conv, s->fours, s->unpacked);
    conv.w = s->unpacked;
    ember_conv_s8_run(&conv, false);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    const ember_conv_s8_t *conv = &s->conv;
    const ember_status_t status = ember_packed_s8_args(&s->conv, node, &s->fours);

    if (status != EMBER_OK) {
        return status;
    }
    if (conv->over) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: an output lies over its input");
    }
    s->unpacked = ember_node_scratch(node, ember_packed_s8_plain(conv));
    return ember_node_status(node);
}

EMBER_KERNEL(packed_conv2d_s8, state_t);
