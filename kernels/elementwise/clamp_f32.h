// SPDX-License-Identifier: Apache-2.0
// y = a within two numbers, float32 in one layout: clamp, hardtanh, relu6. NaN stays.
#ifndef EMBER_KERNELS_ELEMENTWISE_CLAMP_F32_H
#define EMBER_KERNELS_ELEMENTWISE_CLAMP_F32_H

#include "kernels/engine/map_f32.h"

typedef struct ember_clamp_f32 {
    ember_map_f32_1_t map;
    float low; // <= high
    float high;
} ember_clamp_f32_t;

EMBER_MUST_USE ember_status_t ember_clamp_f32_prepare(ember_node_t *node, void *state);

// Whether bounds are tensors, which other kernels handle.
bool ember_clamp_of_tensors(ember_node_t *node);

// The numbers that bound results; UNSUPPORTED unless low <= high.
EMBER_MUST_USE ember_status_t ember_clamp_bounds(ember_node_t *node, float *low,
                                                 float *high);

#endif // EMBER_KERNELS_ELEMENTWISE_CLAMP_F32_H
