// SPDX-License-Identifier: Apache-2.0
// Resizes images (n, h, w, c), interpolating between four pixels. Aligns the centres of
// pixels, or with a flag the corners.
#include "elements.h"

static ember_status_t shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_xnn_value_t *input = node->in[0];
    const uint32_t *news = node->params;
    if (input->rank != 4 || input->sizes[1] < 1 || input->sizes[2] < 1 ||
        news[0] > INT32_MAX || news[1] > INT32_MAX) {
        return ember_xnn_bad_shape(graph);
    }
    const int32_t sizes[] = {input->sizes[0], (int32_t)news[0], (int32_t)news[1],
                             input->sizes[3]};
    return ember_xnn_resize(graph, node->out[0], 4, sizes) ? EMBER_OK
                                                           : ember_xnn_bad_shape(graph);
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return (node->flags & ~(uint32_t)FLAG_ALIGN_CORNERS) == 0
               ? ember_xnn_unary_prepare(graph, node)
               : EMBER_UNSUPPORTED;
}

// The two pixels of a row between which an output pixel is, and its distance to the
// first.
typedef struct place {
    int32_t first;
    int32_t second;
    float part;
} place_t;

static place_t find_place(int32_t at, int32_t in, int32_t out, bool corners) {
    const int32_t span = corners && out > 1 ? 1 : 0;
    const float scale = (float)(in - span) / (float)(out - span);
    const float start = corners ? 0.0f : 0.5f * scale - 0.5f;
    const float where = (float)at * scale + start;
    const float bounded = xnn_clamp(where, 0.0f, (float)(in - 1));
    const int32_t rounded = (int32_t)bounded; // a float may exceed in - 1
    const int32_t first = rounded < in - 1 ? rounded : in - 1;
    return (place_t){first, first < in - 1 ? first + 1 : first, bounded - (float)first};
}

// In the value's type: each step of float16 is rounded.
static void mix(const ember_xnn_value_t *value, float *x, const float *y, float part,
                uint32_t count) {
    if (value->datatype == XNN_F16) {
        const float half = xnn_to_f16(part);
        for (uint32_t i = 0; i < count; i++) {
            x[i] = xnn_to_f16(x[i] + xnn_to_f16(y[i] - x[i]) * half);
        }
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        x[i] += (y[i] - x[i]) * part;
    }
}

// `count` channels of pixels of a row, from index `at` of the input on.
static void read_line(const ember_xnn_value_t *input, size_t at, const place_t *place,
                      uint32_t count, float *x) {
    float y[XNN_CHUNK];
    const size_t channels = (size_t)input->sizes[3];
    const size_t first = at + (size_t)place->first * channels;
    const size_t second = at + (size_t)place->second * channels;
    ember_xnn_load(input, xnn_at(input, first), 1, count, x);
    ember_xnn_load(input, xnn_at(input, second), 1, count, y);
    mix(input, x, y, place->part, count);
}

static void run_pixel(const ember_xnn_node_t *node, size_t image, const place_t *down,
                      const place_t *across, size_t to) {
    const ember_xnn_value_t *input = node->in[0];
    const uint32_t channels = (uint32_t)input->sizes[3];
    const size_t line = (size_t)input->sizes[2] * channels;
    float x[XNN_CHUNK];
    float y[XNN_CHUNK];
    for (uint32_t c = 0; c < channels; c += XNN_CHUNK) {
        const uint32_t count = channels - c < XNN_CHUNK ? channels - c : XNN_CHUNK;
        read_line(input, image + (size_t)down->first * line + c, across, count, x);
        read_line(input, image + (size_t)down->second * line + c, across, count, y);
        mix(input, x, y, down->part, count);
        ember_xnn_store(node, xnn_at(node->out[0], to + c), count, x);
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const int32_t *in = node->in[0]->sizes;
    const int32_t *out = node->out[0]->sizes;
    const bool corners = (node->flags & FLAG_ALIGN_CORNERS) != 0;
    const size_t image = (size_t)in[1] * (size_t)in[2] * (size_t)in[3];
    size_t to = 0;
    for (int32_t b = 0; b < out[0]; b++) {
        for (int32_t oy = 0; oy < out[1]; oy++) {
            const place_t down = find_place(oy, in[1], out[1], corners);
            for (int32_t ox = 0; ox < out[2]; ox++, to += (size_t)out[3]) {
                const place_t across = find_place(ox, in[2], out[2], corners);
                run_pixel(node, (size_t)b * image, &down, &across, to);
            }
        }
    }
}

XNN_KERNEL(static_resize_bilinear_2d, NULL, shape, XNN_KIND(STATIC_RESIZE_BILINEAR_2D));
