// SPDX-License-Identifier: Apache-2.0
// Panels whose rows and columns are matrices of two inputs. Columns are reordered into
// blocks in execute.
#include "backends/xnnpack/nodes/batch_matmul.h"
#include "panel_walk.h"

static ember_xnn_geometry_t geometry_of(const ember_xnn_node_t *node) {
    return (ember_xnn_geometry_t){
        .groups = 1,
        .n = (uint32_t)xnn_size(node->out[0], 0),
        .taps = 1,
        .k = (uint32_t)xnn_size(node->in[0], 0),
        .unit = 1,
        .transposed = (node->flags & FLAG_TRANSPOSE_WEIGHTS) != 0,
    };
}

// Whether a row is multiplied with columns in place: blocks pay only for several rows.
static bool as_they_lie(const ember_xnn_node_t *node, const ember_xnn_form_t *form,
                        const ember_xnn_geometry_t *geometry) {
    return form->as_it_lies != NULL && xnn_size(node->out[0], 1) == 1 &&
           !geometry->transposed && geometry->n >= XNN_PANEL;
}

ember_status_t ember_xnn_panel_matmul(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                      const ember_xnn_form_t *form) {
    const ember_status_t status = ember_xnn_matmul_prepare(graph, node, form->type);
    if (status != EMBER_OK) {
        return status;
    }
    const ember_xnn_geometry_t geometry = geometry_of(node);
    const bool blocks = !as_they_lie(node, form, &geometry);
    const uint64_t columns = blocks ? xnn_padded(geometry.n, XNN_PANEL) : 0;
    const bool same = node->in[1]->datatype == node->in[0]->datatype;
    return same && ember_xnn_panel_scratch(node, form, &geometry, 0,
                                           4 * columns * geometry.k)
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

void ember_xnn_panel_matmul_run(const ember_xnn_graph_t *graph,
                                const ember_xnn_node_t *node,
                                const ember_xnn_form_t *form) {
    const ember_xnn_value_t *out = node->out[0];
    const ember_xnn_geometry_t geometry = geometry_of(node);
    const uint32_t m = (uint32_t)xnn_size(out, 1);
    const size_t a_bytes = (size_t)m * geometry.k * form->size;
    const size_t b_bytes = (size_t)geometry.k * geometry.n * form->size;
    const bool blocks = !as_they_lie(node, form, &geometry);
    const size_t matrices = out->numel > 0 ? out->numel / m / geometry.n : 0;
    ember_xnn_panel_t panel;
    uint8_t *packed = ember_xnn_panel_begin(&panel, graph, node, form, &geometry);
    size_t last = SIZE_MAX;
    panel.w = packed;
    for (size_t i = 0; i < matrices; i++) {
        const size_t a = ember_xnn_matrix_of(node->in[0], out, i);
        const size_t b = ember_xnn_matrix_of(node->in[1], out, i);
        const uint8_t *rows = (const uint8_t *)node->in[0]->constant + a * a_bytes;
        const uint8_t *matrix = (const uint8_t *)node->in[1]->constant + b * b_bytes;
        if (!blocks) {
            panel.rows = 1;
            form->as_it_lies(&panel, rows, matrix);
            panel.y += panel.y_step;
            continue;
        }
        if (b != last) {
            form->columns(&geometry, matrix, (float *)(void *)packed);
            last = b;
        }
        ember_xnn_panel_rows(&panel, rows, m, geometry.k);
    }
}
