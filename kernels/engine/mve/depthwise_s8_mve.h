// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of one filter per channel, with Helium.
#ifndef EMBER_KERNELS_ENGINE_MVE_DEPTHWISE_S8_MVE_H
#define EMBER_KERNELS_ENGINE_MVE_DEPTHWISE_S8_MVE_H

#include "kernels/engine/mve/depthwise_mve.h"

typedef struct ember_depthwise_s8_mve {
    ember_conv_s8_t conv;
    int8_t *weights; // (taps, EMBER_DEPTHWISE_LANES_MVE) of one block
    int8_t *ring; // (slots, pitch): row r of the image is in slot (r + padding) % slots
    int32_t taps;
    int32_t slots;
    int32_t pitch; // bytes
    int32_t cell;  // bytes from one column of the ring to the next
    int32_t group; // neighbouring outputs in a block
    bool direct;   // the ring is the image itself
} ember_depthwise_s8_mve_t;

// Takes `s->conv`, which has been read; UNSUPPORTED if it does not suit Helium.
EMBER_MUST_USE ember_status_t
ember_depthwise_s8_mve_prepare(ember_depthwise_s8_mve_t *s, ember_node_t *node);

// `outputs` is ember_depthwise_mve(), or the same with another scaling of sums.
void ember_depthwise_s8_mve_run(const ember_depthwise_s8_mve_t *s,
                                ember_depthwise_mve_t outputs);

#endif // EMBER_KERNELS_ENGINE_MVE_DEPTHWISE_S8_MVE_H
