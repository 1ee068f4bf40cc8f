// SPDX-License-Identifier: Apache-2.0
// The arguments of convolutions with packed weights. Contract: lent_packed.h.
#include "kernels/cadence/lent_packed.h"

#include "kernels/engine/int8/packed_s8.h"

enum { W = 1, BIAS, PLACES_DILATION = 5, LAST = 10, OUT };
enum { RANK = 4 };

// Weights, biases and where the filters meet the image, which is read already.
static ember_status_t read_weights(ember_conv_s8_t *conv, ember_node_t *node) {
    static const ember_conv_s8_places_t places = {.dilation = PLACES_DILATION};
    ember_tensor_t w, bias;

    ember_node_tensor(node, W, &w);
    ember_node_tensor(node, BIAS, &bias);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (w.dtype != EMBER_S8 || w.rank != RANK || !ember_cadence_plain(node, &w) ||
        bias.dtype != EMBER_S32 || bias.numel != (uint32_t)w.sizes[0] ||
        bias.numel == 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "ember: weights or biases");
    }
    conv->w = w.data;
    conv->scales.bias = bias.data;
    conv->filters = w.sizes[0];
    conv->height.kernel = w.sizes[1];
    conv->width.kernel = w.sizes[2];
    conv->depth = w.sizes[3];
    return ember_conv_s8_geometry(conv, node, &places)
               ? EMBER_OK
               : ember_node_fail(node, EMBER_BAD_PROGRAM,
                                 "ember: sizes or parameters do not fit");
}

ember_status_t ember_lent_packed_args(ember_lent_t *lent, ember_conv_s8_t *conv,
                                      ember_node_t *node, int32_t *fours) {
    const bool last = ember_node_bool(node, LAST);

    *lent = (ember_lent_t){.batches = 1};
    *conv = (ember_conv_s8_t){0};
    if (ember_lent_image(conv, node, last) != EMBER_OK ||
        read_weights(conv, node) != EMBER_OK ||
        ember_packed_s8_rows(conv, node, fours) != EMBER_OK) {
        return ember_node_status(node);
    }
    const uint32_t steps = (uint32_t)ember_packed_s8_plain(conv);
    return ember_lent_output(lent, conv, node, OUT, last, steps);
}
