// SPDX-License-Identifier: Apache-2.0
// Windows of the dialect. Contract: window.h.
#include "kernels/cadence/window.h"

#include "kernels/engine/windows.h"

enum { LIMIT = 1 << 28 }; // larger parameters could only overflow sums

bool ember_cadence_window_in(ember_cadence_window_t *window, const ember_tensor_t *x,
                             bool last) {
    if (x->rank != 3 && x->rank != 4) {
        return false;
    }
    const uint32_t first = last ? 1 : 2; // dimension of the space
    const bool flat = x->rank == 3;

    window->last = last;
    window->flat = flat;
    window->batches = x->sizes[0];
    window->channels = x->sizes[last ? x->rank - 1u : 1];
    window->height.in = flat ? 1 : x->sizes[first];
    window->width.in = x->sizes[flat ? first : first + 1];
    window->x = ember_cadence_image(window, window->channels, window->height.in,
                                    window->width.in);
    return true;
}

ember_cadence_image_t ember_cadence_image(const ember_cadence_window_t *window,
                                          int32_t channels, int32_t height,
                                          int32_t width) {
    const int32_t column = window->last ? channels : 1;
    return (ember_cadence_image_t){
        .batch = channels * height * width,
        .channel = window->last ? 1 : height * width,
        .row = width * column,
        .column = column,
    };
}

uint32_t ember_cadence_window_shape(const ember_cadence_window_t *window, uint32_t rank,
                                    int32_t channels, int32_t sizes[4]) {
    uint32_t at = 0;

    sizes[at++] = window->batches;
    if (!window->last) {
        sizes[at++] = channels;
    }
    if (rank == 4) {
        sizes[at++] = window->height.out;
    }
    sizes[at++] = window->width.out;
    if (window->last) {
        sizes[at++] = channels;
    }
    return at;
}

// A list of two items, or of one: only the width if there is no height. An empty one
// changes nothing.
static void read_pair(ember_node_t *node, uint32_t arg, int32_t low, int32_t *height,
                      int32_t *width) {
    int32_t items[2] = {0, 0};
    const uint32_t count = ember_node_ints(node, arg, items, 2);

    if (count == 0) {
        return;
    }
    if (count > 2) {
        ember_node_fail(node, EMBER_BAD_PROGRAM,
                        "cadence: a list has the wrong length");
        return;
    }
    *height = items[0];
    *width = items[count - 1];
    const bool bad = *height < low || *width < low;
    if (bad || *height > LIMIT || *width > LIMIT) {
        ember_node_fail(node, bad ? EMBER_BAD_PROGRAM : EMBER_UNSUPPORTED,
                        "cadence: bad parameter");
    }
}

// Length of the output; -1 if the parameters are out of range.
static int32_t out_length(const ember_cadence_axis_t *axis, bool transposed,
                          int32_t out_padding, bool ceil) {
    const int64_t reach = (int64_t)axis->dilation * (axis->kernel - 1);
    const int64_t span = axis->in + 2 * (int64_t)axis->padding;
    int64_t length;

    if (axis->kernel < 1 || axis->stride < 1 || axis->in < 0 || span > LIMIT ||
        reach > LIMIT) {
        return -1;
    }
    if (transposed) {
        const int64_t steps = (axis->in - (int64_t)1) * axis->stride;
        length = steps - 2 * (int64_t)axis->padding + reach + out_padding + 1;
    } else {
        length = ember_windows(axis->in, reach + 1, axis->stride, axis->padding, ceil);
    }
    return length > LIMIT ? -1 : (int32_t)length;
}

ember_status_t ember_cadence_window_out(ember_cadence_window_t *window,
                                        ember_node_t *node,
                                        const ember_cadence_lists_t *lists) {
    ember_cadence_axis_t *height = &window->height, *width = &window->width;
    int32_t out_padding[2] = {0, 0};

    height->stride = height->kernel; // where there is no list
    width->stride = width->kernel;
    height->padding = width->padding = 0;
    height->dilation = width->dilation = 1;
    read_pair(node, lists->stride, 1, &height->stride, &width->stride);
    read_pair(node, lists->padding, 0, &height->padding, &width->padding);
    if (lists->dilation != 0) {
        read_pair(node, lists->dilation, 1, &height->dilation, &width->dilation);
    }
    window->transposed = lists->out_padding != 0;
    if (window->transposed) {
        read_pair(node, lists->out_padding, 0, &out_padding[0], &out_padding[1]);
    }
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (window->flat) { // what a list says of a height is not for it
        height->stride = height->dilation = 1;
        height->padding = out_padding[0] = 0;
    }
    const bool ceil = lists->ceil_mode != 0 && ember_node_bool(node, lists->ceil_mode);
    height->out = out_length(height, window->transposed, out_padding[0], ceil);
    width->out = out_length(width, window->transposed, out_padding[1], ceil);
    return height->out >= 0 && width->out >= 0
               ? EMBER_OK
               : ember_node_fail(node, EMBER_BAD_PROGRAM, "cadence: sizes do not fit");
}
