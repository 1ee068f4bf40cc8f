// SPDX-License-Identifier: Apache-2.0
// Panels whose rows are the windows of a convolution.
#include "panel_walk.h"
#include "panel_windows.h"

// --- init ----------------------------------------------------------------------------

// A form that reads rows in place treats each row of a window as a run, if its elements
// are adjacent in the image.
static ember_xnn_geometry_t conv_geometry(const ember_xnn_node_t *node,
                                          const ember_xnn_form_t *form) {
    const uint32_t *params = node->params;
    const uint32_t taps = params[CONV_KERNEL] * params[CONV_KERNEL + 1];
    const bool lines = form->pack == NULL && ember_xnn_windows_are_dense(node);
    const uint32_t runs = lines ? params[CONV_KERNEL] : 1;
    return (ember_xnn_geometry_t){.groups = params[CONV_GROUPS],
                                  .n = params[CONV_GROUP_OUTPUTS],
                                  .taps = runs,
                                  .k = taps / runs * params[CONV_GROUP_INPUTS],
                                  .unit = form->unit};
}

enum { REPAID = 2048 }; // products of a window's columns, for int8

// Whether a form that reorders windows saves more by its products than copying windows
// costs. If not, the next form is one that reads them in place.
static bool repays_copies(const ember_xnn_form_t *form,
                          const ember_xnn_geometry_t *geometry,
                          const ember_xnn_windows_t *windows) {
    return form->pack == NULL || form->size > 1 || windows->direct ||
           (uint64_t)geometry->n * geometry->k >= REPAID;
}

ember_status_t ember_xnn_panel_conv(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                    const ember_xnn_form_t *form) {
    const ember_status_t status = ember_xnn_conv_prepare(graph, node, form->type);
    if (status != EMBER_OK) {
        return status;
    }
    const ember_xnn_geometry_t geometry = conv_geometry(node, form);
    const bool in_place = form->pack == NULL;
    ember_xnn_windows_t windows;
    ember_xnn_windows_read(&windows, node, form->size);
    const ember_xnn_places_t places =
        ember_xnn_places(&windows, geometry.taps, geometry.k * form->size);
    return geometry.n > 0 && repays_copies(form, &geometry, &windows) &&
                   ember_xnn_panel_scratch(node, form, &geometry,
                                           in_place ? 0 : form->size,
                                           in_place ? places.size : XNN_READ)
               ? ember_xnn_pack(graph, node, form->layout, &geometry)
               : EMBER_UNSUPPORTED;
}

// --- execute -------------------------------------------------------------------------

// A convolution of an image.
typedef struct walk {
    ember_xnn_panel_t panel;
    ember_xnn_windows_t windows;
    uint32_t k; // of a run
} walk_t;

// Goes to a group's columns of the rows that begin at `first` of the output. Returns
// the group's first column.
static uint32_t begin_group(walk_t *walk, uint32_t group, size_t first) {
    ember_xnn_panel_t *panel = &walk->panel;
    const uint32_t column = group * xnn_padded(panel->n, XNN_PANEL);
    panel->w =
        (const uint8_t *)panel->node->packed + column / XNN_PANEL * panel->block_bytes;
    panel->y = first + (size_t)group * panel->n;
    return column;
}

// Eight windows at a time, all groups of each.
static void run_packed(walk_t *walk, const uint8_t *image) {
    ember_xnn_panel_t *panel = &walk->panel;
    const ember_xnn_windows_t *windows = &walk->windows;
    const uint32_t pixels = (uint32_t)(windows->window.y.out * windows->window.x.out);
    const size_t first = panel->y;
    // There is room after a copied window; weights are zero there.
    const uint32_t k = windows->direct ? walk->k : panel->steps * panel->form->unit;
    for (uint32_t pixel = 0; pixel < pixels; pixel += XNN_PANEL) {
        const uint32_t left = pixels - pixel;
        panel->rows = left < XNN_PANEL ? left : XNN_PANEL;
        for (uint32_t group = 0; group < panel->node->params[CONV_GROUPS]; group++) {
            const uint32_t at = begin_group(walk, group, first + pixel * panel->y_step);
            ember_xnn_windows_find(windows, image + (size_t)group * windows->taps_bytes,
                                   pixel, panel->rows, panel->from);
            panel->form->pack(panel, panel->from, k);
            ember_xnn_panel_multiply(panel, at);
        }
    }
}

// As many windows at a time as possible.
static void run_in_place(walk_t *walk, const uint8_t *image) {
    ember_xnn_panel_t *panel = &walk->panel;
    const ember_xnn_windows_t *windows = &walk->windows;
    const ember_xnn_places_t places =
        ember_xnn_places(windows, panel->runs, walk->k * panel->form->size);
    const uint32_t most = ember_xnn_panel_most(panel);
    ember_xnn_cursor_t at = xnn_cursor(windows, image, 0);
    size_t first = panel->y;
    panel->pitch = places.pitch;
    while (at.y < windows->window.y.out) {
        ember_xnn_cursor_t next = at;
        for (uint32_t group = 0; group < panel->node->params[CONV_GROUPS]; group++) {
            const uint32_t column = begin_group(walk, group, first);
            next = at;
            next.image = image + (size_t)group * windows->taps_bytes;
            panel->rows = ember_xnn_places_take(windows, &places, panel->runs, &next,
                                                most, panel->from);
            ember_xnn_panel_multiply(panel, column);
        }
        first += panel->rows * panel->y_step;
        at = next;
    }
}

static void run_image(walk_t *walk, const uint8_t *image) {
    ember_xnn_panel_t *panel = &walk->panel;
    const ember_xnn_axis_t *y = &walk->windows.window.y, *x = &walk->windows.window.x;
    if (walk->windows.linear && panel->node->params[CONV_GROUPS] == 1) {
        ember_xnn_panel_rows(panel, image, (uint32_t)(y->out * x->out), walk->k);
    } else if (panel->form->pack == NULL) {
        run_in_place(walk, image);
    } else {
        run_packed(walk, image);
    }
}

void ember_xnn_panel_conv_run(const ember_xnn_graph_t *graph,
                              const ember_xnn_node_t *node,
                              const ember_xnn_form_t *form) {
    const ember_xnn_value_t *input = node->in[0];
    const ember_xnn_geometry_t geometry = conv_geometry(node, form);
    walk_t walk = {.k = geometry.k};
    ember_xnn_windows_t *windows = &walk.windows;
    const uint8_t *image = input->constant;
    ember_xnn_windows_read(windows, node, form->size);
    windows->to = ember_xnn_panel_begin(&walk.panel, graph, node, form, &geometry);
    windows->pitch = (size_t)form->size * walk.panel.steps * form->unit;
    const size_t out = node->out[0]->numel / (uint32_t)windows->window.batch;
    for (uint32_t batch = 0; batch < (uint32_t)windows->window.batch; batch++) {
        walk.panel.row = batch;
        walk.panel.y = batch * out;
        windows->fill = input->datatype == XNN_QDS8  ? xnn_rows(input)[batch].zero
                        : input->datatype == XNN_QS8 ? input->zero
                                                     : 0;
        run_image(&walk, image);
        image += windows->image_bytes;
    }
}
