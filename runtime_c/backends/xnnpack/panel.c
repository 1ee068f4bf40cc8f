// SPDX-License-Identifier: Apache-2.0
#include "panel.h"

#include "window.h"

static uint32_t aligned(uint64_t bytes) {
    return (uint32_t)((bytes + EMBER_ALIGN - 1) & ~(uint64_t)(EMBER_ALIGN - 1));
}

static uint32_t padded(uint32_t count, uint32_t unit) {
    return (count + unit - 1) / unit * unit;
}

// --- while a delegate starts ---------------------------------------------------------

// Scratch: start and scales of columns, a panel's rows, and windows of a convolution.
static ember_status_t pack_weights(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                   const ember_xnn_form_t *form,
                                   const ember_xnn_geometry_t *geometry,
                                   bool has_windows) {
    const uint64_t columns =
        (uint64_t)padded(geometry->n, XNN_PANEL) * geometry->groups;
    const uint64_t k = (uint64_t)geometry->taps * geometry->k + form->unit;
    const uint64_t bytes = (has_windows ? form->size : 0) + (uint64_t)form->wide;
    const uint64_t scratch = 8 * columns + XNN_PANEL * bytes * k + 4 * EMBER_ALIGN;
    if (geometry->n == 0 || k > INT32_MAX / 64 || scratch > INT32_MAX / 4) {
        return EMBER_UNSUPPORTED;
    }
    node->scratch = (uint32_t)scratch;
    return ember_xnn_pack(graph, node, form->layout, geometry);
}

static ember_xnn_geometry_t linear_geometry(const ember_xnn_node_t *node,
                                            const ember_xnn_form_t *form) {
    const bool transposed = (node->flags & FLAG_TRANSPOSE_WEIGHTS) != 0;
    const int32_t *sizes = node->in[1]->sizes;
    return (ember_xnn_geometry_t){.groups = 1,
                                  .n = (uint32_t)sizes[transposed ? 1 : 0],
                                  .taps = 1,
                                  .k = (uint32_t)sizes[transposed ? 0 : 1],
                                  .block =
                                      form->layout->scales ? node->in[1]->group : 0,
                                  .unit = form->unit,
                                  .transposed = transposed};
}

ember_status_t ember_xnn_panel_linear(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                      const ember_xnn_form_t *form) {
    const ember_xnn_type_t type = {.check = form->check};
    const ember_status_t status = ember_xnn_linear_prepare(graph, node, &type);
    if (status != EMBER_OK) {
        return status;
    }
    const ember_xnn_geometry_t geometry = linear_geometry(node, form);
    return pack_weights(graph, node, form, &geometry, false);
}

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
    const ember_xnn_type_t type = {.check = form->check};
    const ember_status_t status = ember_xnn_conv_prepare(graph, node, &type);
    if (status != EMBER_OK) {
        return status;
    }
    const ember_xnn_geometry_t geometry = conv_geometry(node, form);
    return pack_weights(graph, node, form, &geometry, true);
}

// --- while it runs -------------------------------------------------------------------

// What a walk knows.
typedef struct walk {
    ember_xnn_panel_t panel;
    ember_xnn_window_t window;
    const uint8_t *weights;
    const uint8_t *input;
    uint8_t *windows; // of a panel, each `pitch` bytes
    size_t pitch;
    size_t group_bytes; // of packed weights
    uint32_t k;
    uint32_t groups;
    uint32_t taps_bytes;  // of the group's channels of a pixel
    uint32_t pixel_bytes; // of all its channels
    int fill;             // byte of what lies outside of an image
} walk_t;

static void begin(walk_t *walk, const ember_xnn_graph_t *graph,
                  const ember_xnn_node_t *node, const ember_xnn_form_t *form,
                  const ember_xnn_geometry_t *geometry) {
    const uint32_t columns = padded(geometry->n, XNN_PANEL);
    const size_t block = ember_xnn_columns_bytes(form->layout, geometry);
    uint8_t *scratch = graph->work;
    *walk = (walk_t){.weights = node->packed,
                     .input = node->in[0]->constant,
                     .k = geometry->taps * geometry->k,
                     .groups = geometry->groups,
                     .group_bytes = block * (columns / XNN_PANEL)};
    const uint32_t k = padded(walk->k, form->unit);
    ember_xnn_panel_t *panel = &walk->panel;
    *panel = (ember_xnn_panel_t){
        .form = form,
        .node = node,
        .start = scratch,
        .scales = (float *)(void *)(scratch +
                                    aligned((uint64_t)4 * columns * geometry->groups)),
        .steps = k / form->unit,
        .n = geometry->n,
        .y_step = (size_t)geometry->n * geometry->groups,
        .block_bytes = block,
    };
    panel->a =
        (uint8_t *)panel->scales + aligned((uint64_t)4 * columns * geometry->groups);
    walk->windows = panel->a + aligned((uint64_t)XNN_PANEL * form->wide * k);
    walk->pitch = (size_t)form->size * k;
    if (node->out[0]->datatype == XNN_QS8) {
        (void)ember_xnn_range(node, &panel->range);
    }
    for (uint32_t group = 0; group < geometry->groups; group++) {
        panel->w = walk->weights + group * walk->group_bytes;
        form->begin(panel, group * geometry->n, panel->start + 4 * group * columns,
                    panel->scales + group * columns);
    }
    panel->w = walk->weights;
}

// Sums of a panel, a block of columns after the other; `at` is where the group's
// columns begin.
static void run_panel(const ember_xnn_panel_t *panel, uint32_t at) {
    const ember_xnn_form_t *form = panel->form;
    const uint8_t *w = panel->w;
    uint32_t sums[XNN_PANEL * XNN_PANEL];
    for (uint32_t j = 0; j < panel->n; j += XNN_PANEL, w += panel->block_bytes) {
        form->run(panel, w, panel->start + 4 * (size_t)(at + j), sums);
        form->put(panel, sums, panel->scales + at + j, j);
    }
}

void ember_xnn_panel_linear_run(const ember_xnn_graph_t *graph,
                                const ember_xnn_node_t *node,
                                const ember_xnn_form_t *form) {
    walk_t walk;
    const ember_xnn_geometry_t geometry = linear_geometry(node, form);
    ember_xnn_panel_t *panel = &walk.panel;
    begin(&walk, graph, node, form, &geometry);
    const uint32_t rows = node->out[0]->numel / geometry.n;
    const size_t bytes = (size_t)geometry.k * form->size;
    const void *from[XNN_PANEL];
    panel->row_step = 1;
    for (; panel->row < rows; panel->row += XNN_PANEL) {
        const uint32_t left = rows - panel->row;
        panel->rows = left < XNN_PANEL ? left : XNN_PANEL;
        for (uint32_t i = 0; i < XNN_PANEL; i++) {
            const uint32_t row = i < panel->rows ? i : panel->rows - 1;
            from[i] = walk.input + (panel->row + row) * bytes;
        }
        form->pack(panel, from, geometry.k);
        run_panel(panel, 0);
        panel->y += XNN_PANEL * panel->y_step;
    }
}

// --- windows of a convolution --------------------------------------------------------

static void copy(uint8_t *to, const uint8_t *from, size_t count) {
    if (count < 8) {
        for (size_t i = 0; i < count; i++) {
            to[i] = from[i];
        }
        return;
    }
    for (size_t i = 0; i + 8 < count; i += 8) {
        memcpy(to + i, from + i, 8);
    }
    memcpy(to + count - 8, from + count - 8, 8);
}

// Taps [x0, x1) of a line of the window; `from` is where its first tap would be.
static void copy_line(const walk_t *walk, const uint8_t *from, int32_t x0, int32_t x1,
                      uint8_t *to) {
    const ember_xnn_axis_t *across = &walk->window.x;
    const size_t bytes = walk->taps_bytes;
    if (across->dilation == 1 && walk->groups == 1) {
        copy(to + (size_t)x0 * bytes, from + (size_t)x0 * bytes,
             (size_t)(x1 - x0) * bytes);
        return;
    }
    for (int32_t x = x0; x < x1; x++) {
        const size_t at = (size_t)x * (uint32_t)across->dilation;
        copy(to + (size_t)x * bytes, from + at * walk->pixel_bytes, bytes);
    }
}

// The window of an output pixel, lines behind each other.
static void copy_window(const walk_t *walk, const uint8_t *image, int32_t oy,
                        int32_t ox, uint8_t *to) {
    const ember_xnn_window_t *window = &walk->window;
    int32_t y0, y1, x0, x1;
    const int32_t top = xnn_taps(&window->y, oy, &y0, &y1);
    const int32_t left = xnn_taps(&window->x, ox, &x0, &x1);
    const size_t line = (size_t)window->x.kernel * walk->taps_bytes;
    if (y0 > 0 || y1 < window->y.kernel || x0 > 0 || x1 < window->x.kernel) {
        memset(to, walk->fill, line * (size_t)window->y.kernel);
    }
    if (x1 <= x0) {
        return;
    }
    for (int32_t ky = y0; ky < y1; ky++) {
        const int32_t y = top + ky * window->y.dilation;
        const ptrdiff_t pixel = (ptrdiff_t)y * window->x.in + left;
        copy_line(walk, image + pixel * (ptrdiff_t)walk->pixel_bytes, x0, x1,
                  to + (size_t)ky * line);
    }
}

// A panel of output pixels from (y, x) on, of one group; returns how far rows go.
static uint32_t find_rows(const walk_t *walk, const uint8_t *image, bool direct,
                          uint32_t pixel, const void *from[XNN_PANEL]) {
    const ember_xnn_window_t *window = &walk->window;
    const uint32_t width = (uint32_t)window->x.out;
    uint32_t y = pixel / width;
    uint32_t x = pixel % width;
    for (uint32_t i = 0; i < walk->panel.rows; i++) {
        if (direct) {
            const size_t row = (size_t)y * (uint32_t)window->y.stride;
            from[i] = image + (row * (uint32_t)window->x.in +
                               (size_t)x * (uint32_t)window->x.stride) *
                                  walk->pixel_bytes;
        } else {
            uint8_t *to = walk->windows + i * walk->pitch;
            copy_window(walk, image, (int32_t)y, (int32_t)x, to);
            from[i] = to;
        }
        if (++x == width) {
            x = 0;
            y++;
        }
    }
    for (uint32_t i = walk->panel.rows; i < XNN_PANEL; i++) {
        from[i] = from[i - 1];
    }
    // Behind a copied window there is room; weights are zero there.
    return direct ? walk->k : walk->panel.steps * walk->panel.form->unit;
}

static void run_image(walk_t *walk, uint32_t batch) {
    ember_xnn_panel_t *panel = &walk->panel;
    const ember_xnn_window_t *window = &walk->window;
    const uint32_t pixels = (uint32_t)window->y.out * (uint32_t)window->x.out;
    const size_t size = (size_t)window->y.in * (uint32_t)window->x.in;
    const uint8_t *image = walk->input + batch * size * walk->pixel_bytes;
    const bool direct = window->y.kernel == 1 && window->x.kernel == 1 &&
                        window->y.before == 0 && window->x.before == 0 &&
                        (window->y.out - 1) * window->y.stride < window->y.in &&
                        (window->x.out - 1) * window->x.stride < window->x.in;
    const size_t first = (size_t)batch * pixels * panel->y_step;
    const void *from[XNN_PANEL];
    for (uint32_t pixel = 0; pixel < pixels; pixel += XNN_PANEL) {
        const uint32_t left = pixels - pixel;
        panel->rows = left < XNN_PANEL ? left : XNN_PANEL;
        for (uint32_t group = 0; group < walk->groups; group++) {
            const uint32_t k = find_rows(walk, image + (size_t)group * walk->taps_bytes,
                                         direct, pixel, from);
            panel->w = walk->weights + group * walk->group_bytes;
            panel->y = first + pixel * panel->y_step + (size_t)group * panel->n;
            panel->form->pack(panel, from, k);
            run_panel(panel, group * padded(panel->n, XNN_PANEL));
        }
    }
}

void ember_xnn_panel_conv_run(const ember_xnn_graph_t *graph,
                              const ember_xnn_node_t *node,
                              const ember_xnn_form_t *form) {
    walk_t walk;
    const ember_xnn_value_t *input = node->in[0];
    const ember_xnn_geometry_t geometry = conv_geometry(node, form);
    begin(&walk, graph, node, form, &geometry);
    (void)!ember_xnn_window_read(node, &walk.window);
    walk.taps_bytes = geometry.k * form->size;
    walk.pixel_bytes = (uint32_t)walk.window.channels * form->size;
    for (uint32_t batch = 0; batch < (uint32_t)walk.window.batch; batch++) {
        walk.panel.row = batch;
        walk.fill = input->datatype == XNN_QDS8  ? xnn_rows(input)[batch].zero
                    : input->datatype == XNN_QS8 ? input->zero
                                                 : 0;
        run_image(&walk, batch);
    }
}
