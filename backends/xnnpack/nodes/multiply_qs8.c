// SPDX-License-Identifier: Apache-2.0
// Product of static int8 values: exact in int32, then to the output's scale in float32.
#include "broadcast.h"

static bool is_static(const ember_xnn_value_t *value) {
    return value->datatype == XNN_QS8 && xnn_is_scale(value->scale);
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    return is_static(node->in[0]) && is_static(node->in[1]) && is_static(node->out[0])
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

static void compute(const ember_xnn_node_t *node, const ember_xnn_range_t *range,
                    float scale, const ember_xnn_lines_t *line) {
    const int8_t *a = line->a;
    const int8_t *b = line->b;
    int8_t *y = line->y;
    for (uint32_t i = 0; i < line->count; i++) {
        const int32_t product = (a[i * line->a_step] - node->in[0]->zero) *
                                (b[i * line->b_step] - node->in[1]->zero);
        y[i] = xnn_quantize((float)product * scale, range);
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_lines_t lines;
    ember_xnn_range_t range;
    const float scale = node->in[0]->scale * node->in[1]->scale / node->out[0]->scale;
    ember_xnn_range(node, &range);
    if (ember_xnn_lines_start(&lines, node, INT32_MAX)) {
        do {
            compute(node, &range, scale, &lines);
        } while (ember_xnn_lines_next(&lines));
    }
}

XNN_KERNEL(multiply_qs8, NULL, ember_xnn_broadcast_shape, XNN_KIND(MULTIPLY));
