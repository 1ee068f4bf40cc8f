// SPDX-License-Identifier: Apache-2.0
// What convolutions of the dialect have alike whose weights the host has packed: their
// image, the numbers that scale sums, and their output. `last`: channels are innermost;
// else images are turned in scratch.
#ifndef EMBER_KERNELS_CADENCE_LENT_IMAGE_H
#define EMBER_KERNELS_CADENCE_LENT_IMAGE_H

#include "kernels/cadence/lent.h"

// Reads the image, argument 0, and the numbers, arguments 6 to 9.
EMBER_MUST_USE ember_status_t ember_lent_image(ember_conv_s8_t *conv,
                                               ember_node_t *node, bool last);
// Sets the shape of the output, argument `out`, takes scratch for what is turned, and
// states the work: `steps` for each pixel.
EMBER_MUST_USE ember_status_t ember_lent_output(ember_lent_t *lent,
                                                ember_conv_s8_t *conv,
                                                ember_node_t *node, uint32_t out,
                                                bool last, uint32_t steps);

// A kernel: PREPARE(state, node) reads the call.
#define EMBER_LENT_IMAGE_KERNEL(NAME, STATE, PREPARE, RUN, TURN)                       \
    EMBER_LENT_IMAGES(STATE, RUN, TURN)                                                \
    static int32_t run(void *state) {                                                  \
        run_images(state);                                                             \
        return EMBER_OK;                                                               \
    }                                                                                  \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return PREPARE(state, node);                                                   \
    }                                                                                  \
    EMBER_KERNEL(NAME, STATE)

#endif // EMBER_KERNELS_CADENCE_LENT_IMAGE_H
