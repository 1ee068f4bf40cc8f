// SPDX-License-Identifier: Apache-2.0
// Panels: what all walks over them share, and the rows of layers.
#include "panel_walk.h"

static uint32_t aligned(uint64_t bytes) {
    return (uint32_t)((bytes + EMBER_ALIGN - 1) & ~(uint64_t)(EMBER_ALIGN - 1));
}

// --- init ----------------------------------------------------------------------------

bool ember_xnn_panel_scratch(ember_xnn_node_t *node, const ember_xnn_form_t *form,
                             const ember_xnn_geometry_t *geometry, uint64_t bytes,
                             uint64_t own) {
    const uint64_t columns =
        (uint64_t)xnn_padded(geometry->n, XNN_PANEL) * geometry->groups;
    // Copies of rows: see bound().
    const uint64_t rest = form->pack == NULL ? 2 * XNN_READ : form->unit;
    const uint64_t k = (uint64_t)geometry->taps * geometry->k + rest;
    const uint64_t scratch =
        8 * columns + XNN_PANEL * (form->wide + bytes) * k + 4 * EMBER_ALIGN;
    if (columns > INT32_MAX / 64 || k > INT32_MAX / 128 || own > INT32_MAX / 8 ||
        scratch > INT32_MAX / 4) {
        return false;
    }
    node->scratch = (uint32_t)(scratch + own);
    return true;
}

static ember_xnn_geometry_t linear_geometry(const ember_xnn_node_t *node,
                                            const ember_xnn_form_t *form) {
    const bool transposed = (node->flags & FLAG_TRANSPOSE_WEIGHTS) != 0;
    const ember_xnn_value_t *weights = node->in[1];
    return (ember_xnn_geometry_t){.groups = 1,
                                  .n = (uint32_t)weights->sizes[transposed ? 1 : 0],
                                  .taps = 1,
                                  .k = (uint32_t)xnn_size(weights, transposed),
                                  .block = form->layout->scales ? weights->group : 0,
                                  .unit = form->unit,
                                  .transposed = transposed};
}

ember_status_t ember_xnn_panel_linear(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                      const ember_xnn_form_t *form) {
    const ember_status_t status = ember_xnn_linear_prepare(graph, node, form->type);
    if (status != EMBER_OK) {
        return status;
    }
    const ember_xnn_geometry_t geometry = linear_geometry(node, form);
    return geometry.n > 0 && ember_xnn_panel_scratch(node, form, &geometry, 0, 0)
               ? ember_xnn_pack(graph, node, form->layout, &geometry)
               : EMBER_UNSUPPORTED;
}

// --- execute -------------------------------------------------------------------------

uint8_t *ember_xnn_panel_begin(ember_xnn_panel_t *panel, const ember_xnn_graph_t *graph,
                               const ember_xnn_node_t *node,
                               const ember_xnn_form_t *form,
                               const ember_xnn_geometry_t *geometry) {
    const uint32_t columns = xnn_padded(geometry->n, XNN_PANEL);
    const uint32_t bytes = aligned((uint64_t)4 * columns * geometry->groups);
    const uint32_t k = xnn_padded(geometry->k, form->unit);
    uint8_t *scratch = graph->work;
    *panel = (ember_xnn_panel_t){
        .form = form,
        .node = node,
        .start = scratch,
        .scales = (float *)(void *)(scratch + bytes),
        .a = scratch + 2 * (size_t)bytes,
        .runs = geometry->taps,
        .steps = k / form->unit,
        .block = geometry->block / form->unit,
        .n = geometry->n,
        .y_step = (size_t)geometry->n * geometry->groups,
        .block_bytes = ember_xnn_columns_bytes(form->layout, geometry),
    };
    if (node->out[0]->datatype == XNN_QS8) {
        (void)ember_xnn_range(node, &panel->range);
    }
    const uint8_t *weights = node->packed;
    for (uint32_t group = 0; group < geometry->groups; group++) {
        const size_t at = (size_t)group * columns;
        panel->w = weights + at / XNN_PANEL * panel->block_bytes;
        form->begin(panel, group * geometry->n, panel->start + 4 * at,
                    panel->scales + at);
    }
    panel->w = weights;
    return panel->a + aligned((uint64_t)XNN_PANEL * form->wide * k);
}

void ember_xnn_panel_multiply(const ember_xnn_panel_t *panel, uint32_t at) {
    const ember_xnn_form_t *form = panel->form;
    uint32_t j = 0;
    if (form->whole != NULL) {
        j = form->whole(panel, at);
    } else if (form->row != NULL && panel->rows == 1) {
        j = form->row(panel, at);
    }
    const uint8_t *w = panel->w + j / XNN_PANEL * panel->block_bytes;
    for (; j < panel->n; j += XNN_PANEL, w += panel->block_bytes) {
        form->block(panel, w, panel->start + 4 * (size_t)(at + j),
                    panel->scales + at + j, j);
    }
}

uint32_t ember_xnn_panel_most(const ember_xnn_panel_t *panel) {
    const ember_xnn_form_t *form = panel->form;
    const bool many =
        form->pack == NULL && form->whole != NULL && panel->n % XNN_PANEL == 0;
    return many ? XNN_ROWS : XNN_PANEL;
}

// Rows in place are copied if reading them would go past `end`, the end of the input.
static void bound(ember_xnn_panel_t *panel, size_t bytes, const uint8_t *end) {
    const uint32_t rows = xnn_padded(panel->rows, XNN_PANEL);
    const size_t read = (bytes + XNN_READ - 1) / XNN_READ * XNN_READ;
    uint8_t *to = panel->a;
    uint32_t i = rows;
    while (i > 0 && (size_t)(end - (const uint8_t *)panel->from[i - 1]) < read) {
        i--;
    }
    for (; i < rows; i++, to += bytes) {
        memcpy(to, panel->from[i], bytes);
        panel->from[i] = to;
    }
}

void ember_xnn_panel_rows(ember_xnn_panel_t *panel, const uint8_t *from, uint32_t rows,
                          uint32_t k) {
    const ember_xnn_form_t *form = panel->form;
    const size_t bytes = (size_t)k * form->size;
    const uint8_t *end = from + rows * bytes;
    const uint32_t most = ember_xnn_panel_most(panel);
    while (rows > 0) {
        panel->rows = rows < most ? rows : most;
        xnn_panel_find(panel->from, from, bytes, panel->rows);
        if (form->pack == NULL) {
            bound(panel, bytes, end);
        } else {
            form->pack(panel, panel->from, k);
        }
        ember_xnn_panel_multiply(panel, 0);
        from += panel->rows * bytes;
        rows -= panel->rows;
        panel->y += panel->rows * panel->y_step;
        panel->row += panel->rows * panel->row_step;
    }
}

void ember_xnn_panel_linear_run(const ember_xnn_graph_t *graph,
                                const ember_xnn_node_t *node,
                                const ember_xnn_form_t *form) {
    ember_xnn_panel_t panel;
    const ember_xnn_geometry_t geometry = linear_geometry(node, form);
    (void)ember_xnn_panel_begin(&panel, graph, node, form, &geometry);
    panel.row_step = 1;
    ember_xnn_panel_rows(&panel, node->in[0]->constant,
                         node->out[0]->numel / geometry.n, geometry.k);
}
