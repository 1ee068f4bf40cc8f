// SPDX-License-Identifier: Apache-2.0
// Sum and difference of static int8 values, see add.h.
#include "add.h"

static void compute(const ember_xnn_add_t *add, const ember_xnn_lines_t *line) {
    const int8_t *a = line->a;
    const int8_t *b = line->b;
    int8_t *y = line->y;
    for (uint32_t i = 0; i < line->count; i++) {
        const int32_t sum =
            add->bias + a[i * line->a_step] * add->a + b[i * line->b_step] * add->b;
        y[i] = xnn_quantize((float)(sum >> add->shift), &add->range);
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_add_prepare(graph, node);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_add_run(node, compute);
}

XNN_KERNEL(add_qs8, NULL, ember_xnn_broadcast_shape,
           XNN_KIND(ADD) | XNN_KIND(SUBTRACT));
