// SPDX-License-Identifier: Apache-2.0
#include "multiply.h"

static bool is_static(const ember_xnn_value_t *value) {
    return value->datatype == XNN_QS8 && xnn_is_scale(value->scale);
}

float ember_xnn_multiply_scale(const ember_xnn_node_t *node) {
    return node->in[0]->scale * node->in[1]->scale / node->out[0]->scale;
}

ember_status_t ember_xnn_multiply_prepare(ember_xnn_graph_t *graph,
                                          ember_xnn_node_t *node) {
    (void)graph;
    return is_static(node->in[0]) && is_static(node->in[1]) && is_static(node->out[0])
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

void ember_xnn_multiply_line(const ember_xnn_multiply_t *multiply,
                             const ember_xnn_lines_t *line) {
    const ember_xnn_node_t *node = multiply->node;
    const int8_t *a = line->a;
    const int8_t *b = line->b;
    int8_t *y = line->y;
    for (uint32_t i = 0; i < line->count; i++) {
        const int32_t product = (a[i * line->a_step] - node->in[0]->zero) *
                                (b[i * line->b_step] - node->in[1]->zero);
        y[i] = xnn_quantize((float)product * multiply->scale, &multiply->range);
    }
}

void ember_xnn_multiply_run(const ember_xnn_node_t *node,
                            ember_xnn_multiply_fn compute) {
    ember_xnn_lines_t lines;
    ember_xnn_multiply_t multiply = {.node = node,
                                     .scale = ember_xnn_multiply_scale(node)};
    (void)ember_xnn_range(node, &multiply.range);
    if (ember_xnn_lines_start(&lines, node, INT32_MAX)) {
        do {
            compute(&multiply, &lines);
        } while (ember_xnn_lines_next(&lines));
    }
}
