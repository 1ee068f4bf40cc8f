// SPDX-License-Identifier: Apache-2.0
// ember::packed_conv2d.out: weights are unpacked in every run.
#include "kernels/cortex_m/conv_s8_run.h"
#include "kernels/cortex_m/packed_s8.h"

enum { FOUR = EMBER_PACKED_FOUR, PAIR = 2, WORD = 4 };

typedef struct {
    ember_conv_s8_t conv;
    int8_t *unpacked; // (filters, height.kernel, width.kernel, depth)
    int32_t fours;    // of a row of taps
} state_t;

// The weight of filter `f` at `element`, which are less than four, of a block.
static int8_t weight(const int8_t *block, int32_t f, int32_t element) {
    const int32_t half = element % PAIR, pair = f / PAIR;
    const int8_t *both =
        block + (half * PAIR + pair) * WORD + element / PAIR * (WORD / PAIR);

    return f % PAIR == 0 ? (int8_t)(both[0] ^ INT8_MIN) : both[1];
}

static void unpack(const state_t *s) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t line = conv->width.kernel * conv->depth;
    const int32_t blocks = conv->height.kernel * s->fours;
    int8_t *to = s->unpacked;

    for (int32_t f = 0; f < conv->filters; f++) {
        const int8_t *row = conv->w + f / FOUR * blocks * FOUR * FOUR;
        for (int32_t ky = 0; ky < conv->height.kernel; ky++) {
            for (int32_t i = 0; i < line; i++) {
                *to++ = weight(row + i / FOUR * FOUR * FOUR, f % FOUR, i % FOUR);
            }
            row += s->fours * FOUR * FOUR;
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    ember_conv_s8_t conv = s->conv;

    unpack(s);
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
    const int32_t line = conv->width.kernel * conv->depth;
    s->unpacked = ember_node_scratch(node, (size_t)conv->filters *
                                               (size_t)(conv->height.kernel * line));
    return ember_node_status(node);
}

EMBER_KERNEL(packed_conv2d_s8, state_t);
