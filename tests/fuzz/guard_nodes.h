// SPDX-License-Identifier: Apache-2.0
// Kernels of XNNPACK's nodes between guards: while a node runs, its values, their
// scales, weights that were packed while the delegate started, parameters and scratch
// are replaced by memory of their exact size. Of the graph it sees nothing else.
#ifndef EMBER_FUZZ_GUARD_NODES_H
#define EMBER_FUZZ_GUARD_NODES_H

#include "backends/xnnpack/graph/graph.h"
#include "guard_memory.h"

void guard_run_node(const ember_xnnpack_kernel_t *kernel, guard_counts_t *counts,
                    const ember_xnn_graph_t *graph, const ember_xnn_node_t *node);

// A kernel that runs between guards; run.py writes the table of them.
#define GUARDED_NODE(NAME)                                                             \
    extern const ember_xnnpack_kernel_t ember_xnnpack_##NAME;                          \
    ember_xnnpack_kernel_t guarded_xnnpack_##NAME;                                     \
    static void run_node_##NAME(const ember_xnn_graph_t *graph,                        \
                                const ember_xnn_node_t *node) {                        \
        static guard_counts_t counts = {"xnnpack_" #NAME, 0, 0, NULL};                 \
        guard_run_node(&ember_xnnpack_##NAME, &counts, graph, node);                   \
    }                                                                                  \
    __attribute__((constructor)) static void make_node_##NAME(void) {                  \
        guarded_xnnpack_##NAME = ember_xnnpack_##NAME;                                 \
        guarded_xnnpack_##NAME.run = run_node_##NAME;                                  \
    }                                                                                  \
    _Static_assert(1, "")

#endif // EMBER_FUZZ_GUARD_NODES_H
