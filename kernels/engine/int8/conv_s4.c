// SPDX-License-Identifier: Apache-2.0
// Arguments of layers with weights of int4, and their filters in parts. Contract:
// conv_s4.h.
#include "kernels/engine/int8/conv_s4.h"

enum { X, W, X_OFFSET = 3, Y_OFFSET, MULTIPLIERS, LOW = 7, HIGH, LINEAR_OUT };
enum { SMALL = 8192, LEAST = 16 };                  // bytes of a tile, and filters
enum { MOST = 1 << 20, HALF = EMBER_BLOCK_S4 / 2 }; // weights of a filter, bytes

ember_status_t ember_conv_s4_args(ember_conv_s8_t *conv, ember_node_t *node) {
    const ember_conv_s8_places_t places = {
        .dilation = 5, .kernel = 6, .offset = 7, .out = 13};
    const ember_status_t status = ember_conv_s8_args(conv, node, &places);

    if (status == EMBER_OK && conv->over) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "ember: an output lies over its input");
    }
    return status;
}

// Sets the output's shape: that of `x` with the filters last.
static ember_status_t set_output(ember_conv_s8_t *conv, ember_node_t *node,
                                 const ember_tensor_t *x) {
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t y;

    for (uint32_t i = 0; i < x->rank; i++) {
        sizes[i] = x->sizes[i];
    }
    sizes[x->rank - 1u] = conv->filters;
    ember_node_output(node, LINEAR_OUT, x->rank, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (y.dtype != EMBER_S8 || !ember_tensor_is_contiguous(&y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "ember: wrong layout of the output");
    }
    conv->y = y.data;
    ember_node_work(node, y.numel, (uint32_t)conv->depth + EMBER_STEPS_RESULT);
    return EMBER_OK;
}

ember_status_t ember_conv_s4_linear_args(ember_conv_s8_t *conv, ember_node_t *node) {
    ember_tensor_t x, w;

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, W, &w);
    conv->x_offset = (int16_t)ember_zero_point_arg(node, X_OFFSET);
    conv->scales.zero_point = (int16_t)ember_zero_point_arg(node, Y_OFFSET);
    conv->scales.limits = ember_limits_s8_args(node, LOW, HIGH);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_S8 || w.dtype != EMBER_S8 || x.rank < 1 || w.rank != 2 ||
        !ember_tensor_is_contiguous(&x) || !ember_tensor_is_contiguous(&w)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "ember: layout");
    }
    const int32_t inner = x.sizes[x.rank - 1u];
    if (inner < 1 || inner > MOST || w.sizes[1] != ember_bytes_s4(inner)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "ember: sizes do not fit");
    }
    conv->x = x.data;
    conv->w = w.data;
    ember_conv_s8_of_rows(conv, &x, inner, w.sizes[0]);
    conv->over = false;
    if (ember_conv_s8_scales_args(conv, node, MULTIPLIERS) != EMBER_OK) {
        return ember_node_status(node);
    }
    return set_output(conv, node, &x);
}

ember_weights_s4_t ember_weights_s4(const ember_conv_s8_t *conv, int32_t most) {
    const int32_t inner = (int32_t)ember_conv_s8_taps(conv) * conv->depth;

    return (ember_weights_s4_t){
        .rows = conv->w,
        .chunk = conv->filters < most ? conv->filters : most,
        .inner = inner,
        .pitch = ember_bytes_s4(inner),
    };
}

int32_t ember_chunk_s4(const ember_conv_s8_t *conv) {
    const int32_t inner = (int32_t)ember_conv_s8_taps(conv) * conv->depth;
    const int32_t fitting = inner == 0 ? LEAST : SMALL / inner & ~3;

    return fitting < LEAST ? LEAST : fitting;
}

ember_conv_s8_t ember_part_s4(const ember_conv_s8_t *conv,
                              const ember_weights_s4_t *weights, int32_t from) {
    const int32_t left = conv->filters - from;
    ember_conv_s8_t part = *conv;

    part.filters = left < weights->chunk ? left : weights->chunk;
    part.w = weights->tile;
    part.y += from;
    part.scales.multipliers += from;
    part.scales.shifts += from;
    if (part.scales.bias != NULL) {
        part.scales.bias += from;
    }
    return part;
}

void ember_widen_s4(int8_t *to, const int8_t *row, int32_t inner) {
    for (; inner > 0; inner -= EMBER_BLOCK_S4) {
        const int32_t count = inner < EMBER_BLOCK_S4 ? inner : EMBER_BLOCK_S4;
        const int32_t half = ember_bytes_s4(count);
        for (int32_t i = 0; i < half && i < count; i++) {
            to[i] = (int8_t)((uint32_t)row[i] << 4);
        }
        for (int32_t i = half; i < count; i++) {
            to[i] = row[i - half];
        }
        to += EMBER_BLOCK_S4;
        row += HALF;
    }
}
