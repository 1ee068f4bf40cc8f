// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes from static int8 to static int8 by look-ups: the portable kernel
// computes all 256 values once in a run.
#ifndef EMBER_XNNPACK_HVX_TABLE_H
#define EMBER_XNNPACK_HVX_TABLE_H

#include "backends/xnnpack/graph/graph.h"

ember_status_t ember_xnn_hvx_table(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                   const ember_xnnpack_kernel_t *plain);
void ember_xnn_hvx_table_run(const ember_xnn_graph_t *graph,
                             const ember_xnn_node_t *node,
                             const ember_xnnpack_kernel_t *plain);

// Defines the kernel NAME from PLAIN, which takes the same kinds.
#define XNN_HVX_TABLE_KERNEL(NAME, PLAIN, KINDS)                                       \
    extern const ember_xnnpack_kernel_t ember_xnnpack_##PLAIN;                         \
    static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {  \
        return ember_xnn_hvx_table(graph, node, &ember_xnnpack_##PLAIN);               \
    }                                                                                  \
    static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {    \
        ember_xnn_hvx_table_run(graph, node, &ember_xnnpack_##PLAIN);                  \
    }                                                                                  \
    XNN_KERNEL(NAME, NULL, ember_xnn_shape_same, KINDS)

#endif // EMBER_XNNPACK_HVX_TABLE_H
