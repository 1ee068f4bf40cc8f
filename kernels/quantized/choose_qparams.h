// SPDX-License-Identifier: Apache-2.0
// choose_qparams: the scale and zero point of a whole tensor.
#ifndef EMBER_KERNELS_QUANTIZED_CHOOSE_QPARAMS_H
#define EMBER_KERNELS_QUANTIZED_CHOOSE_QPARAMS_H

#include "ember/node.h"
#include "kernels/quantized/qparams.h"

typedef struct ember_choose_qparams {
    const void *x; // (count,), in one piece
    void *scale;
    void *zero_point;
    float epsilon; // the least scale
    int32_t low;
    int32_t high;
    uint32_t count; // at least 1
    uint8_t x_dtype;
    uint8_t scale_dtype;
    uint8_t zero_dtype;
} ember_choose_qparams_t;

EMBER_MUST_USE ember_status_t ember_choose_qparams_prepare(ember_node_t *node,
                                                           void *state);
// Writes the outputs for the range of x.
void ember_choose_qparams_put(const ember_choose_qparams_t *choose,
                              ember_extent_t extent);

#endif // EMBER_KERNELS_QUANTIZED_CHOOSE_QPARAMS_H
