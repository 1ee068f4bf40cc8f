// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes with two inputs, computed in float32.
#include "broadcast.h"

static void add(float *x, const float *y, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        x[i] += y[i];
    }
}

static void divide(float *x, const float *y, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        x[i] /= y[i];
    }
}

static void maximum(float *x, const float *y, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        x[i] = x[i] > y[i] ? x[i] : y[i];
    }
}

static void minimum(float *x, const float *y, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        x[i] = x[i] < y[i] ? x[i] : y[i];
    }
}

static void multiply(float *x, const float *y, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        x[i] *= y[i];
    }
}

static void prelu(float *x, const float *y, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        x[i] = x[i] < 0.0f ? x[i] * y[i] : x[i];
    }
}

static void subtract(float *x, const float *y, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        x[i] -= y[i];
    }
}

typedef void (*binary_fn)(float *x, const float *y, uint32_t count);

static const binary_fn functions[] = {
    [XNN_ADD] = add,           [XNN_DIV] = divide,        [XNN_MAXIMUM] = maximum,
    [XNN_MINIMUM] = minimum,   [XNN_MULTIPLY] = multiply, [XNN_PRELU] = prelu,
    [XNN_SUBTRACT] = subtract,
};

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    const uint32_t datatype = node->out[0]->datatype;
    return node->in[0]->datatype == datatype && node->in[1]->datatype == datatype &&
                   ember_xnn_is_plain(node->in[0]) && ember_xnn_is_plain(node->in[1]) &&
                   ember_xnn_is_plain(node->out[0])
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_lines_t lines;
    float x[XNN_CHUNK];
    float y[XNN_CHUNK];
    if (!ember_xnn_lines_start(&lines, node, XNN_CHUNK)) {
        return;
    }
    do {
        ember_xnn_load(node->in[0], lines.a, lines.a_step, lines.count, x);
        ember_xnn_load(node->in[1], lines.b, lines.b_step, lines.count, y);
        functions[node->kind](x, y, lines.count);
        ember_xnn_store(node, lines.y, lines.count, x);
    } while (ember_xnn_lines_next(&lines));
}

XNN_KERNEL(binary, NULL, ember_xnn_broadcast_shape,
           XNN_KIND(ADD) | XNN_KIND(DIV) | XNN_KIND(MAXIMUM) | XNN_KIND(MINIMUM) |
               XNN_KIND(MULTIPLY) | XNN_KIND(PRELU) | XNN_KIND(SUBTRACT));
