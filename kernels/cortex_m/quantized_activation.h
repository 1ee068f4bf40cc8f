// SPDX-License-Identifier: Apache-2.0
// quantized_activation: y = lut[x + 128], int8: any function that the table holds.
#ifndef EMBER_KERNELS_CORTEX_M_QUANTIZED_ACTIVATION_H
#define EMBER_KERNELS_CORTEX_M_QUANTIZED_ACTIVATION_H

#include "ember/node.h"

typedef struct ember_lut_s8 {
    const int8_t *x;
    const int8_t *lut; // (256,)
    int8_t *y;         // may be x
    uint32_t count;
} ember_lut_s8_t;

EMBER_MUST_USE ember_status_t ember_lut_s8_prepare(ember_node_t *node, void *state);

#endif // EMBER_KERNELS_CORTEX_M_QUANTIZED_ACTIVATION_H
