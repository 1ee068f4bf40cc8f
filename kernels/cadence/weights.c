// SPDX-License-Identifier: Apache-2.0
// Layers with int8 weights. Contract: weights.h.
#include "kernels/cadence/weights.h"

#include <stddef.h>

ember_status_t ember_w8_args(ember_w8_t *layer, ember_node_t *node, uint32_t w,
                             uint32_t bias, uint32_t scale, ember_tensor_t *weight) {
    ember_tensor_t added;

    ember_node_tensor(node, w, weight);
    ember_node_tensor(node, bias, &added);
    layer->scale = (float)ember_node_double(node, w + 1);
    layer->bias_scale = (float)ember_node_double(node, scale);
    layer->w = weight->data;
    layer->bias = added.data;
    layer->rows = (int32_t)added.numel;
    layer->step = 1;
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (weight->dtype != EMBER_S8 || added.dtype != EMBER_S8 ||
        !ember_tensor_is_contiguous(weight) || !ember_tensor_is_contiguous(&added)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "w8a32: wrong dtypes or layout");
    }
    return EMBER_OK;
}

float ember_w8_row(const ember_w8_t *layer, const float *x, int32_t row) {
    const int8_t *w = layer->w + (ptrdiff_t)row * layer->row;
    float sum = 0.0f;

    for (int32_t k = layer->inner; k > 0; k--) {
        sum += *x++ * ((float)*w * layer->scale);
        w += layer->step;
    }
    return sum;
}
