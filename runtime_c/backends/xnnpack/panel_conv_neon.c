// SPDX-License-Identifier: Apache-2.0
// Panels whose rows are the windows of a convolution.
#include "panel_walk.h"
#include "panel_windows.h"

// --- while a delegate starts ---------------------------------------------------------

static ember_xnn_geometry_t conv_geometry(const ember_xnn_node_t *node,
                                          const ember_xnn_form_t *form) {
    const uint32_t *params = node->params;
    return (ember_xnn_geometry_t){.groups = params[CONV_GROUPS],
                                  .n = params[CONV_GROUP_OUTPUTS],
                                  .taps = params[CONV_KERNEL] * params[CONV_KERNEL + 1],
                                  .k = params[CONV_GROUP_INPUTS],
                                  .unit = form->unit};
}

ember_status_t ember_xnn_panel_conv(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                    const ember_xnn_form_t *form) {
    const ember_status_t status = ember_xnn_conv_prepare(graph, node, form->type);
    if (status != EMBER_OK) {
        return status;
    }
    const ember_xnn_geometry_t geometry = conv_geometry(node, form);
    return geometry.n > 0 && ember_xnn_panel_scratch(node, form, &geometry, form->size,
                                                     XNN_COPIED)
               ? ember_xnn_pack(graph, node, form->layout, &geometry)
               : EMBER_UNSUPPORTED;
}

// --- while it runs -------------------------------------------------------------------

static void run_image(ember_xnn_panel_t *panel, const ember_xnn_windows_t *windows,
                      uint32_t batch) {
    const uint32_t *params = panel->node->params;
    const ember_xnn_window_t *window = &windows->window;
    const uint32_t pixels = (uint32_t)window->y.out * (uint32_t)window->x.out;
    const uint8_t *image =
        (const uint8_t *)panel->node->in[0]->constant + batch * windows->image_bytes;
    const size_t first = (size_t)batch * pixels * panel->y_step;
    // Behind a copied window there is room; weights are zero there.
    const uint32_t k =
        windows->direct ? params[CONV_GROUP_INPUTS] : panel->steps * panel->form->unit;
    const void *from[XNN_PANEL];
    for (uint32_t pixel = 0; pixel < pixels; pixel += XNN_PANEL) {
        const uint32_t left = pixels - pixel;
        panel->rows = left < XNN_PANEL ? left : XNN_PANEL;
        for (uint32_t group = 0; group < params[CONV_GROUPS]; group++) {
            const uint8_t *channels = image + (size_t)group * windows->taps_bytes;
            const uint32_t column = group * xnn_padded(panel->n, XNN_PANEL);
            ember_xnn_windows_find(windows, channels, pixel, panel->rows, from);
            panel->w = (const uint8_t *)panel->node->packed +
                       column / XNN_PANEL * panel->block_bytes;
            panel->y = first + pixel * panel->y_step + (size_t)group * panel->n;
            panel->form->pack(panel, from, k);
            ember_xnn_panel_multiply(panel, column);
        }
    }
}

void ember_xnn_panel_conv_run(const ember_xnn_graph_t *graph,
                              const ember_xnn_node_t *node,
                              const ember_xnn_form_t *form) {
    const ember_xnn_value_t *input = node->in[0];
    const ember_xnn_geometry_t geometry = conv_geometry(node, form);
    ember_xnn_panel_t panel;
    ember_xnn_windows_t windows;
    ember_xnn_windows_read(&windows, node, form->size);
    windows.to = ember_xnn_panel_begin(&panel, graph, node, form, &geometry);
    windows.pitch = (size_t)form->size * panel.steps * form->unit;
    for (uint32_t batch = 0; batch < (uint32_t)windows.window.batch; batch++) {
        panel.row = batch;
        windows.fill = input->datatype == XNN_QDS8  ? xnn_rows(input)[batch].zero
                       : input->datatype == XNN_QS8 ? input->zero
                                                    : 0;
        run_image(&panel, &windows, batch);
    }
}
