// SPDX-License-Identifier: Apache-2.0
// Kernels of products for any core.
#include "backends/xnnpack/forms.h"
#include "batch_matmul.h"
#include "window.h"

#define FORM(NAME, VARIANT, KIND, PREPARE, SHAPE, RUN, TYPE)                           \
    static ember_status_t prepare_##NAME(ember_xnn_graph_t *graph,                     \
                                         ember_xnn_node_t *node) {                     \
        return PREPARE(graph, node, TYPE);                                             \
    }                                                                                  \
    static void run_##NAME(const ember_xnn_graph_t *graph,                             \
                           const ember_xnn_node_t *node) {                             \
        (void)graph;                                                                   \
        RUN(node, TYPE);                                                               \
    }                                                                                  \
    XNN_KERNEL_OF(0, NAME, VARIANT, XNN_KIND(KIND), prepare_##NAME, SHAPE, run_##NAME);
#define LINEAR(NAME, VARIANT, TYPE)                                                    \
    FORM(NAME, VARIANT, FULLY_CONNECTED, ember_xnn_linear_prepare,                     \
         ember_xnn_linear_shape, ember_xnn_linear_run, TYPE)
#define CONV(NAME, VARIANT, TYPE)                                                      \
    FORM(NAME, VARIANT, CONV_2D, ember_xnn_conv_prepare, ember_xnn_conv_shape,         \
         ember_xnn_conv_run, TYPE)
#define TRANSPOSED(NAME, VARIANT, TYPE)                                                \
    FORM(NAME, VARIANT, CONV_TRANSPOSE_2D, ember_xnn_conv_prepare,                     \
         ember_xnn_transposed_shape, ember_xnn_transposed_run, TYPE)
#define MATMUL(NAME, VARIANT, TYPE)                                                    \
    FORM(NAME, VARIANT, BATCH_MATRIX_MULTIPLY, ember_xnn_matmul_prepare,               \
         ember_xnn_matmul_shape, ember_xnn_matmul_run, TYPE)

XNN_FORMS(LINEAR, CONV, TRANSPOSED, MATMUL)
