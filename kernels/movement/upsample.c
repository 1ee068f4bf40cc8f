// SPDX-License-Identifier: Apache-2.0
// Two-dimensional upsampling. Contract: upsample.h.
#include "kernels/movement/upsample.h"

#include <string.h>

enum { INPUT, SIZE, SCALES = 3, AA_OUT = 5 };

// Sizes of height and width: listed, or the input's times the factors.
static void set_sizes(ember_upsample_t *up, ember_node_t *node, uint32_t factors,
                      int32_t sizes[2]) {
    const bool listed = ember_node_list_count(node, SIZE) != 0;

    if (ember_node_list_count(node, listed ? SIZE : factors) != 2) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "upsample: neither size nor factors");
        return;
    }
    for (uint32_t d = 0; d < 2; d++) {
        up->scales[d] = listed ? 0.0 : ember_node_list_double(node, factors, d);
        const double size = listed ? (double)ember_node_list_int(node, SIZE, d)
                                   : (double)up->in.sizes[2 + d] * up->scales[d];
        if (!(size >= 1.0 && size <= 1e9) || up->in.sizes[2 + d] < 1) {
            ember_node_fail(node, EMBER_BAD_PROGRAM, "upsample: bad size");
            return;
        }
        sizes[d] = (int32_t)size;
    }
}

static ember_status_t set_output(ember_upsample_t *up, ember_node_t *node, uint32_t out,
                                 int32_t *sizes) {
    ember_tensor_t tensor;

    sizes[0] = up->in.sizes[0];
    sizes[1] = up->in.sizes[1];
    ember_node_output(node, out, 4, sizes, &tensor);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (tensor.dtype != up->in.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "upsample: dtypes differ");
    }
    ember_view_tensor(&up->out, &tensor);
    return EMBER_OK;
}

static bool read_input(ember_upsample_t *up, ember_node_t *node) {
    ember_view_arg(&up->in, node, INPUT);
    return ember_node_status(node) == EMBER_OK && up->in.rank == 4;
}

ember_status_t ember_upsample_args(ember_upsample_t *up, ember_node_t *node,
                                   uint32_t factors, uint32_t out) {
    int32_t sizes[4] = {0};

    if (!read_input(up, node)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "upsample: rank");
    }
    set_sizes(up, node, factors, sizes + 2);
    return set_output(up, node, out, sizes);
}

ember_status_t ember_upsample_aa_args(ember_upsample_t *up, ember_node_t *node) {
    int32_t sizes[4] = {0};

    if (!read_input(up, node)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "upsample: rank");
    }
    const uint32_t given = ember_node_ints(node, SIZE, sizes + 2, 2);
    for (uint32_t d = 0; d < 2; d++) {
        const bool scaled = ember_node_kind(node, SCALES + d) != EMBER_NONE;
        up->scales[d] = scaled ? ember_node_double(node, SCALES + d) : 0.0;
        if (given != 2 || sizes[2 + d] < 1 || up->in.sizes[2 + d] < 1) {
            ember_node_fail(node, EMBER_BAD_PROGRAM, "upsample: bad size");
        }
    }
    return set_output(up, node, AA_OUT, sizes);
}

void ember_upsample_places(ember_upsample_places_t *at, const ember_upsample_t *up) {
    memcpy(at->sizes, up->out.sizes, sizeof(at->sizes));
    memcpy(at->in_size, up->in.sizes + 2, sizeof(at->in_size));
    memcpy(at->to, up->out.strides, sizeof(at->to));
    memcpy(at->from, up->in.strides, sizeof(at->from));
}

float ember_upsample_step(const ember_upsample_t *up, uint32_t d) {
    if (up->scales[d] > 0.0) {
        return (float)(1.0 / up->scales[d]);
    }
    return (float)up->in.sizes[2 + d] / (float)up->out.sizes[2 + d];
}

double ember_upsample_wide_step(const ember_upsample_t *up, uint32_t d, bool align) {
    const int32_t in = up->in.sizes[2 + d];
    const int32_t out = up->out.sizes[2 + d];

    if (in == out) {
        return 1.0;
    }
    if (align) {
        return out > 1 ? (double)(in - 1) / (double)(out - 1) : 0.0;
    }
    return up->scales[d] > 0.0 ? 1.0 / up->scales[d] : (double)in / (double)out;
}
