// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect whose products are those of cortex_m: int8, weights
// without a zero point, whole sums. The engines of cortex_m multiply; how sums become
// outputs is said here, in float32 (kernels/engine/int8/real_s8.h).
//
// Engines take images (height, width, channels) and weights that lie so. Images whose
// channels come first, and their weights, are turned in scratch.
#ifndef EMBER_KERNELS_CADENCE_LENT_H
#define EMBER_KERNELS_CADENCE_LENT_H

#include "kernels/cadence/conv.h"
#include "kernels/engine/int8/conv_s8.h"
#include "kernels/engine/int8/turn.h"

// What lies otherwise in a call than an engine takes it; NULL: nothing does.
typedef struct ember_lent {
    const int8_t *x; // (batches, channels, pixels)
    const int8_t *w; // (rows, columns) becomes (columns, rows), for each of `filters`
    int8_t *y;       // (batches, filters, pixels)
    int32_t batches;
    int32_t filters; // whose weights are turned apart
    int32_t rows;
    int32_t columns;
    bool depthwise; // one filter per channel
} ember_lent_t;

// Reads a call: `conv` is what an engine shall compute. UNSUPPORTED when it is not for
// them. `last`: channels are innermost.
EMBER_MUST_USE ember_status_t ember_lent_args(ember_lent_t *lent, ember_conv_s8_t *conv,
                                              ember_node_t *node, bool last);

// The same of an engine's arguments: images whose channels come first, and `w` bytes of
// weights, get a place in scratch.
EMBER_MUST_USE ember_status_t ember_lent_turned(ember_lent_t *lent,
                                                ember_conv_s8_t *conv,
                                                ember_node_t *node, size_t w,
                                                bool last);

static inline int32_t ember_lent_in(const ember_conv_s8_t *conv) {
    return conv->height.in * conv->width.in;
}

static inline int32_t ember_lent_out(const ember_conv_s8_t *conv) {
    return conv->height.out * conv->width.out;
}

// What is turned around a run. Inline, with `turn` a constant: a pointer to a function
// that calls others by pointers has no bound of the stack.
static inline __attribute__((always_inline)) void
ember_lent_weights(const ember_lent_t *lent, const ember_conv_s8_t *conv,
                   ember_turn_t turn) {
    const int32_t each = lent->rows * lent->columns;

    for (int32_t f = 0; lent->w != NULL && f < lent->filters; f++) {
        turn((int8_t *)(uintptr_t)conv->w + f * each, lent->w + f * each, lent->rows,
             lent->columns);
    }
}

static inline __attribute__((always_inline)) void
ember_lent_before(const ember_lent_t *lent, const ember_conv_s8_t *conv, int32_t image,
                  ember_turn_t turn) {
    const int32_t in = ember_lent_in(conv), channels = conv->channels;

    if (lent->x != NULL) {
        turn((int8_t *)(uintptr_t)conv->x, lent->x + image * in * channels, channels,
             in);
    }
}

static inline __attribute__((always_inline)) void
ember_lent_after(const ember_lent_t *lent, const ember_conv_s8_t *conv, int32_t image,
                 ember_turn_t turn) {
    const int32_t out = ember_lent_out(conv), filters = conv->filters;

    if (lent->y != NULL) {
        turn(lent->y + image * out * filters, conv->y, out, filters);
    }
}

// Defines run_images(), of a kernel whose STATE has a `lent`, and `conv` where engines
// keep it; RUN(state) computes an image that is not turned.
#define EMBER_LENT_IMAGES(STATE, RUN, TURN)                                            \
    static void run_images(const STATE *s) {                                           \
        for (int32_t n = 0; n < s->lent.batches; n++) {                                \
            ember_lent_before(&s->lent, &s->conv, n, TURN);                            \
            RUN(s);                                                                    \
            ember_lent_after(&s->lent, &s->conv, n, TURN);                             \
        }                                                                              \
    }

// A kernel: PREPARE(state, conv, node) and RUN(state) are those of a core, and choose
// the engine.
#define EMBER_LENT_KERNEL(NAME, STATE, PREPARE, RUN, TURN, LAST)                       \
    EMBER_LENT_IMAGES(STATE, RUN, TURN)                                                \
    static int32_t run(void *state) {                                                  \
        const STATE *s = state;                                                        \
        ember_lent_weights(&s->lent, &s->conv, TURN);                                  \
        run_images(s);                                                                 \
        return EMBER_OK;                                                               \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        STATE *s = state;                                                              \
        ember_conv_s8_t conv;                                                          \
        const ember_status_t status = ember_lent_args(&s->lent, &conv, node, LAST);    \
        return status != EMBER_OK ? status : PREPARE(s, &conv, node);                  \
    }                                                                                  \
    EMBER_KERNEL(NAME, STATE)

#endif // EMBER_KERNELS_CADENCE_LENT_H
