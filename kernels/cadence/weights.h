// SPDX-License-Identifier: Apache-2.0
// float32 layers whose weights and biases are int8, with one scale each.
#ifndef EMBER_KERNELS_CADENCE_WEIGHTS_H
#define EMBER_KERNELS_CADENCE_WEIGHTS_H

#include "kernels/engine/cadence/numbers.h"

// Rows of weights, and biases, that a vector is multiplied by.
typedef struct ember_w8 {
    const int8_t *w; // `row` apart, `step` apart in a row
    const int8_t *bias;
    float scale;
    float bias_scale;
    int32_t rows;
    int32_t inner;
    int32_t row;
    int32_t step;
} ember_w8_t;

// Takes the arguments `w` and `bias`, each followed by its scale unless `scale` is an
// argument of its own. UNSUPPORTED if they are not contiguous int8.
EMBER_MUST_USE ember_status_t ember_w8_args(ember_w8_t *layer, ember_node_t *node,
                                            uint32_t w, uint32_t bias, uint32_t scale,
                                            ember_tensor_t *weight);

// Row `row` times x, whose elements are adjacent, without the bias.
float ember_w8_row(const ember_w8_t *layer, const float *x, int32_t row);

static inline float ember_w8_bias(const ember_w8_t *layer, int32_t row) {
    return (float)layer->bias[row] * layer->bias_scale;
}

#endif // EMBER_KERNELS_CADENCE_WEIGHTS_H
