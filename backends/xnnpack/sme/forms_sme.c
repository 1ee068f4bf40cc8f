// SPDX-License-Identifier: Apache-2.0
// Kernels of products by outer products.
#include "backends/xnnpack/forms.h"
#include "sme_nodes.h"

#define FORM(NAME, VARIANT, KIND, WHAT, SHAPE, TYPE, PRODUCTS)                         \
    static ember_status_t prepare_##NAME(ember_xnn_graph_t *graph,                     \
                                         ember_xnn_node_t *node) {                     \
        return ember_xnn_sme_##WHAT##_prepare(graph, node, TYPE, PRODUCTS);            \
    }                                                                                  \
    static void run_##NAME(const ember_xnn_graph_t *graph,                             \
                           const ember_xnn_node_t *node) {                             \
        ember_xnn_sme_##WHAT##_run(graph, node, PRODUCTS);                             \
    }                                                                                  \
    XNN_KERNEL_OF(EMBER_CPU_SME, NAME, VARIANT, XNN_KIND(KIND), prepare_##NAME, SHAPE, \
                  run_##NAME);
#define LINEAR(NAME, VARIANT, TYPE, PRODUCTS)                                          \
    FORM(NAME, VARIANT, FULLY_CONNECTED, linear, ember_xnn_linear_shape, TYPE, PRODUCTS)
#define CONV(NAME, VARIANT, SHAPE, TYPE, PRODUCTS)                                     \
    FORM(NAME, VARIANT, CONV_2D, conv, SHAPE, TYPE, PRODUCTS)
#define MATMUL(NAME, VARIANT, TYPE, PRODUCTS)                                          \
    static ember_status_t shape_##NAME(ember_xnn_graph_t *graph,                       \
                                       ember_xnn_node_t *node) {                       \
        return ember_xnn_sme_matmul_shape(graph, node, PRODUCTS);                      \
    }                                                                                  \
    FORM(NAME, VARIANT, BATCH_MATRIX_MULTIPLY, matmul, shape_##NAME, TYPE, PRODUCTS)

XNN_FORMS_SME(LINEAR, CONV, MATMUL)
