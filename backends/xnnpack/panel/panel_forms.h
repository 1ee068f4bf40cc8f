// SPDX-License-Identifier: Apache-2.0
// Makes kernels from the forms of panels: for forms_<isa>.c.
#ifndef EMBER_XNNPACK_PANEL_FORMS_H
#define EMBER_XNNPACK_PANEL_FORMS_H

#include "backends/xnnpack/forms.h"
#include "backends/xnnpack/nodes/batch_matmul.h"
#include "backends/xnnpack/nodes/window.h"
#include "panel.h"

#define XNN_PANEL_FORM(CPU, NAME, VARIANT, KIND, PREPARE, SHAPE, RUN, FORM)            \
    static ember_status_t prepare_##NAME(ember_xnn_graph_t *graph,                     \
                                         ember_xnn_node_t *node) {                     \
        return PREPARE(graph, node, FORM);                                             \
    }                                                                                  \
    static void run_##NAME(const ember_xnn_graph_t *graph,                             \
                           const ember_xnn_node_t *node) {                             \
        RUN(graph, node, FORM);                                                        \
    }                                                                                  \
    XNN_KERNEL_OF(CPU, NAME, VARIANT, XNN_KIND(KIND), prepare_##NAME, SHAPE,           \
                  run_##NAME);
#define XNN_PANEL_LINEAR(CPU, NAME, VARIANT, FORM)                                     \
    XNN_PANEL_FORM(CPU, NAME, VARIANT, FULLY_CONNECTED, ember_xnn_panel_linear,        \
                   ember_xnn_linear_shape, ember_xnn_panel_linear_run, FORM)
#define XNN_PANEL_CONV(CPU, NAME, VARIANT, FORM)                                       \
    XNN_PANEL_FORM(CPU, NAME, VARIANT, CONV_2D, ember_xnn_panel_conv,                  \
                   ember_xnn_conv_shape, ember_xnn_panel_conv_run, FORM)
#define XNN_PANEL_MATMUL(CPU, NAME, VARIANT, FORM)                                     \
    XNN_PANEL_FORM(CPU, NAME, VARIANT, BATCH_MATRIX_MULTIPLY, ember_xnn_panel_matmul,  \
                   ember_xnn_matmul_shape, ember_xnn_panel_matmul_run, FORM)

#endif // EMBER_XNNPACK_PANEL_FORMS_H
