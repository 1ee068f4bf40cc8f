// SPDX-License-Identifier: Apache-2.0
#include "kernels/signal/resample.h"

enum { WINDOW, TAPS, UP, DOWN, OUT };
enum { MOST_RATE = 4096 };

// Results for `fresh` samples, 0 if that is not a whole number.
static uint32_t results(uint32_t fresh, uint32_t up, uint32_t down) {
    const uint64_t steps = (uint64_t)fresh * up;
    return steps % down == 0 ? (uint32_t)(steps / down) : 0;
}

static ember_status_t prepare_output(ember_node_t *node, const ember_tensor_t *window,
                                     ember_resample_t *s, ember_tensor_t *y) {
    int32_t sizes[EMBER_MAX_RANK] = {0};
    if (s->reach == 0 || s->width < s->reach) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "resample: fewer samples than taps");
    }
    s->count = results(s->width - (s->reach - 1), s->up, s->down);
    if (s->count == 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "resample: not a whole number of results");
    }
    memcpy(sizes, window->sizes, window->rank * sizeof(*sizes));
    sizes[window->rank - 1] = (int32_t)s->count;
    ember_node_output(node, OUT, window->rank, sizes, y);
    return ember_node_status(node);
}

static bool is_plain(const ember_tensor_t *tensor, ember_dtype_t dtype) {
    return tensor->dtype == dtype && ember_tensor_is_contiguous(tensor);
}

ember_status_t ember_resample_prepare(ember_node_t *node, ember_dtype_t dtype,
                                      ember_resample_t *s) {
    ember_tensor_t window;
    ember_tensor_t taps;
    ember_tensor_t y;
    ember_node_tensor(node, WINDOW, &window);
    ember_node_tensor(node, TAPS, &taps);
    const int32_t up = ember_node_int_in(node, UP, 1, MOST_RATE);
    const int32_t down = ember_node_int_in(node, DOWN, 1, MOST_RATE);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (window.rank == 0 || taps.rank != 2 || taps.sizes[0] != up) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "resample: bad shapes");
    }
    s->width = (uint32_t)window.sizes[window.rank - 1];
    s->reach = (uint32_t)taps.sizes[1];
    s->up = (uint32_t)up;
    s->down = (uint32_t)down;
    if (prepare_output(node, &window, s, &y) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_plain(&window, dtype) || !is_plain(&taps, dtype) || !is_plain(&y, dtype)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "resample: dtypes, or not contiguous");
    }
    s->window = window.data;
    s->taps = taps.data;
    s->y = y.data;
    s->rows = y.numel / s->count;
    ember_node_work(node, y.numel, s->reach + s->down / s->up);
    return ember_node_status(node);
}
