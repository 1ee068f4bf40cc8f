// SPDX-License-Identifier: Apache-2.0
#include "pooling.h"

ember_status_t ember_xnn_pool_shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    ember_xnn_window_t window;
    return ember_xnn_window_read(node, &window) &&
                   ember_xnn_window_output(graph, node, &window, window.channels)
               ? EMBER_OK
               : ember_xnn_bad_shape(graph);
}

// A whole image is one window, and one row.
bool ember_xnn_mean_window(const ember_xnn_node_t *node, ember_xnn_window_t *window) {
    if (node->kind != XNN_GLOBAL_AVG_POOLING_2D) {
        return ember_xnn_window_read(node, window);
    }
    const ember_xnn_value_t *input = node->in[0];
    const int32_t height = input->sizes[1];
    const int32_t width = input->sizes[2];
    if (input->rank != 4 || height < 1 || width < 1) {
        return false;
    }
    const int32_t pixels = height * width;
    *window = (ember_xnn_window_t){
        .y = {1, 1, 1, 1, 1, 0},
        .x = {pixels, 1, pixels, 1, 1, 0},
        .batch = input->sizes[0],
        .channels = input->sizes[3],
    };
    return true;
}

ember_status_t ember_xnn_mean_shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    ember_xnn_window_t window;
    if (!ember_xnn_mean_window(node, &window)) {
        return ember_xnn_bad_shape(graph);
    }
    const bool global = node->kind == XNN_GLOBAL_AVG_POOLING_2D;
    const int32_t flat[] = {window.batch, window.channels};
    const bool fits =
        global && (node->flags & FLAG_KEEP_DIMS) == 0
            ? ember_xnn_resize(graph, node->out[0], 2, flat)
            : ember_xnn_window_output(graph, node, &window, window.channels);
    return fits ? EMBER_OK : ember_xnn_bad_shape(graph);
}

// One output pixel of image `b`, channels from `c` on.
static void run_pixel(const ember_xnn_node_t *node, const ember_xnn_window_t *window,
                      size_t b, int32_t oy, int32_t ox, uint32_t c,
                      ember_xnn_pool_t *pool, ember_xnn_pool_fn take) {
    const ember_xnn_value_t *input = node->in[0];
    int32_t y0, y1, x0, x1;
    const int32_t top = xnn_taps(&window->y, oy, &y0, &y1);
    const int32_t left = xnn_taps(&window->x, ox, &x0, &x1);
    pool->taps = 0;
    for (int32_t kx = x0; kx < x1; kx++) {
        const int32_t x = left + kx * window->x.dilation;
        for (int32_t ky = y0; ky < y1; ky++, pool->taps++) {
            const int32_t y = top + ky * window->y.dilation;
            const size_t row = b * (uint32_t)window->y.in + (uint32_t)y;
            const size_t at = row * (uint32_t)window->x.in + (uint32_t)x;
            const size_t from = at * (uint32_t)window->channels + c;
            ember_xnn_load(input, xnn_at(input, from), 1, pool->count, pool->x);
            pool->place = (uint32_t)kx * (uint32_t)window->y.kernel + (uint32_t)ky;
            take(pool);
        }
    }
    if (pool->taps == 0) { // all of it is padding
        memset(pool->y, 0, sizeof(pool->y));
    }
}

void ember_xnn_pool_run(const ember_xnn_node_t *node, const ember_xnn_window_t *window,
                        ember_xnn_pool_t *pool, ember_xnn_pool_fn take,
                        ember_xnn_pool_fn finish) {
    const uint32_t channels = (uint32_t)window->channels;
    size_t y = 0;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t oy = 0; oy < window->y.out; oy++) {
            for (int32_t ox = 0; ox < window->x.out; ox++) {
                for (uint32_t c = 0; c < channels; c += XNN_CHUNK) {
                    pool->count = channels - c < XNN_CHUNK ? channels - c : XNN_CHUNK;
                    run_pixel(node, window, (size_t)b, oy, ox, c, pool, take);
                    if (finish != NULL) {
                        finish(pool);
                    }
                    ember_xnn_store(node, xnn_at(node->out[0], y), pool->count,
                                    pool->y);
                    y += pool->count;
                }
            }
        }
    }
}
