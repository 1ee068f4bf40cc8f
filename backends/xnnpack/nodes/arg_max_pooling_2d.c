// SPDX-License-Identifier: Apache-2.0
// The maximum of each window of an image, and its index in the window, row by row; the
// first of equal ones. Windows are adjacent, without padding.
#include "elements.h"
#include "window.h"

enum { PADDINGS = 4, HEIGHT = 4, WIDTH = 5 }; // places of parameters

// Like other poolings, with steps as long as the window.
static bool read_window(const ember_xnn_node_t *node, ember_xnn_window_t *window) {
    const uint32_t height = node->params[HEIGHT];
    const uint32_t width = node->params[WIDTH];
    const uint32_t params[] = {
        [POOL_KERNEL] = height, width, [POOL_STRIDE] = height, width,
        [POOL_DILATION] = 1,    1};
    ember_xnn_node_t pooling = *node;
    pooling.params = params;
    return ember_xnn_window_read(&pooling, window);
}

static ember_status_t shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    ember_xnn_window_t window;
    return read_window(node, &window) &&
                   ember_xnn_window_output(graph, node, &window, window.channels) &&
                   ember_xnn_resize(graph, node->out[1], 4, node->out[0]->sizes)
               ? EMBER_OK
               : ember_xnn_bad_shape(graph);
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    uint32_t padding = 0;
    for (uint32_t i = 0; i < PADDINGS; i++) {
        padding |= node->params[i];
    }
    return xnn_types(node, XNN_F32, XNN_F32) && node->out[1]->datatype == XNN_S32 &&
                   padding == 0
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

// One window's channel: `x` is its first element.
static uint32_t find_largest(const ember_xnn_window_t *window, const float *x) {
    const size_t step = (uint32_t)window->channels;
    const size_t row = (uint32_t)window->x.in * step;
    const uint32_t width = (uint32_t)window->x.kernel;
    const uint32_t count = (uint32_t)window->y.kernel * width;
    uint32_t found = 0;
    for (uint32_t i = 1; i < count; i++) {
        const float largest = x[found / width * row + found % width * step];
        found = x[i / width * row + i % width * step] > largest ? i : found;
    }
    return found;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_window_t window;
    (void)!read_window(node, &window);
    const ember_xnn_value_t *out = node->out[0];
    const uint32_t channels = (uint32_t)window.channels;
    const size_t row = (uint32_t)window.x.in * (size_t)channels;
    const uint32_t width = (uint32_t)window.x.kernel;
    float *largest = out->data;
    int32_t *place = node->out[1]->data;
    for (uint32_t i = 0; i < out->numel; i++) {
        const uint32_t pixel = i / channels;
        const uint32_t line = pixel / (uint32_t)window.x.out; // of all images
        const uint32_t image = line / (uint32_t)window.y.out;
        const size_t y =
            (size_t)image * (uint32_t)window.y.in +
            (size_t)(line % (uint32_t)window.y.out) * (uint32_t)window.y.kernel;
        const size_t x = (size_t)(pixel % (uint32_t)window.x.out) * width;
        const float *first =
            (const float *)node->in[0]->data + y * row + x * channels + i % channels;
        const uint32_t found = find_largest(&window, first);
        largest[i] = xnn_clamp(first[found / width * row + found % width * channels],
                               node->low, node->high);
        place[i] = (int32_t)found;
    }
}

XNN_KERNEL(arg_max_pooling_2d, NULL, shape, XNN_KIND(ARG_MAX_POOLING_2D));
