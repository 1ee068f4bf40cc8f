// SPDX-License-Identifier: Apache-2.0
// Walks over rows of layers and windows of convolutions, as panels.
#include "panel.h"
#include "window.h"

#include <arm_neon.h>

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
    const ember_status_t status = ember_xnn_linear_prepare(graph, node, form->type);
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
    const ember_status_t status = ember_xnn_conv_prepare(graph, node, form->type);
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
    bool direct;          // windows are pixels of the image
    bool linear;          // and of all pixels
    bool dense;           // lines of a window are behind each other in the image
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
        const uint8_t *start = panel->start + 4 * (size_t)(at + j);
        const float *scales = panel->scales + at + j;
        if (form->whole != NULL && panel->n - j >= XNN_PANEL) {
            form->whole(panel, w, start, scales, j);
        } else {
            form->run(panel, w, start, sums);
            form->put(panel, sums, scales, j);
        }
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

// Lines of a window behind each other; `pitch` lies between them in the image.
static inline void copy_lines(uint8_t *to, const uint8_t *from, uint32_t lines,
                              size_t line, size_t pitch) {
    for (; lines > 0; lines--, to += line, from += pitch) {
        if (line >= 8 && line <= 16) { // such as three pixels of an image in colour
            vst1_u8(to, vld1_u8(from));
            vst1_u8(to + line - 8, vld1_u8(from + line - 8));
            continue;
        }
        size_t i = 0;
        for (; i + 16 <= line; i += 16) {
            vst1q_u8(to + i, vld1q_u8(from + i));
        }
        for (; i < line; i++) {
            to[i] = from[i];
        }
    }
}

// Where a walk over output pixels is.
typedef struct cursor {
    const uint8_t *image; // at the group's channels
    int32_t y;
    int32_t x;
    int32_t top; // of the window, and its lines in the image
    int32_t y0;
    int32_t y1;
} cursor_t;

static cursor_t cursor_at(const walk_t *walk, const uint8_t *image, uint32_t pixel) {
    const uint32_t width = (uint32_t)walk->window.x.out;
    cursor_t at = {
        .image = image, .y = (int32_t)(pixel / width), .x = (int32_t)(pixel % width)};
    at.top = xnn_taps(&walk->window.y, at.y, &at.y0, &at.y1);
    return at;
}

static inline void next_pixel(const walk_t *walk, cursor_t *at) {
    if (++at->x == walk->window.x.out) {
        at->x = 0;
        at->y++;
        at->top = xnn_taps(&walk->window.y, at->y, &at->y0, &at->y1);
    }
}

// Windows that are not dense lines of the image: at its edges, dilated, in groups.
static void copy_taps(const walk_t *walk, const cursor_t *at, uint8_t *to) {
    const ember_xnn_window_t *window = &walk->window;
    const size_t bytes = walk->taps_bytes;
    const size_t line = (size_t)window->x.kernel * bytes;
    int32_t x0, x1;
    const int32_t left = xnn_taps(&window->x, at->x, &x0, &x1);
    memset(to, walk->fill, line * (size_t)window->y.kernel);
    for (int32_t ky = at->y0; ky < at->y1; ky++) {
        const int32_t y = at->top + ky * window->y.dilation;
        for (int32_t kx = x0; kx < x1; kx++) {
            const int32_t x = left + kx * window->x.dilation;
            const size_t pixel = (size_t)y * (uint32_t)window->x.in + (uint32_t)x;
            copy_lines(to + (size_t)ky * line + (size_t)kx * bytes,
                       at->image + pixel * walk->pixel_bytes, 1, bytes, 0);
        }
    }
}

// The window of an output pixel, lines behind each other.
static inline void copy_window(const walk_t *walk, const cursor_t *at, uint8_t *to) {
    const ember_xnn_window_t *window = &walk->window;
    const int32_t left = at->x * window->x.stride - window->x.before;
    const bool inside = left >= 0 && left + window->x.kernel <= window->x.in &&
                        at->y0 == 0 && at->y1 == window->y.kernel;
    if (!inside || !walk->dense) {
        copy_taps(walk, at, to);
        return;
    }
    const size_t pitch = (size_t)window->x.in * walk->pixel_bytes;
    const uint8_t *from =
        at->image + (size_t)at->top * pitch + (size_t)left * walk->pixel_bytes;
    copy_lines(to, from, (uint32_t)window->y.kernel,
               (size_t)window->x.kernel * walk->taps_bytes, pitch);
}

// The rows of a panel, and how far they go.
static uint32_t find_rows(const walk_t *walk, cursor_t at,
                          const void *from[XNN_PANEL]) {
    const uint32_t rows = walk->panel.rows;
    if (walk->linear) { // pixel after pixel
        const size_t step = walk->pixel_bytes;
        const size_t pixel =
            (size_t)at.y * (uint32_t)walk->window.x.in + (uint32_t)at.x;
        const uint8_t *row = at.image + pixel * step;
        for (uint32_t i = 0; i < XNN_PANEL; i++) {
            from[i] = row;
            row += i + 1 < rows ? step : 0;
        }
        return walk->k;
    }
    const size_t stride = (size_t)walk->window.x.stride * walk->pixel_bytes;
    const size_t pitch = (size_t)walk->window.x.in * walk->pixel_bytes;
    uint8_t *to = walk->windows;
    for (uint32_t i = 0; i < rows; i++) {
        if (walk->direct) {
            const size_t y = (size_t)at.y * (uint32_t)walk->window.y.stride;
            from[i] = at.image + y * pitch + (size_t)at.x * stride;
        } else {
            copy_window(walk, &at, to);
            from[i] = to;
            to += walk->pitch;
        }
        next_pixel(walk, &at);
    }
    for (uint32_t i = rows; i < XNN_PANEL; i++) {
        from[i] = from[i - 1];
    }
    // Behind a copied window there is room; weights are zero there.
    return walk->direct ? walk->k : walk->panel.steps * walk->panel.form->unit;
}

// Are windows single pixels of the image?
static bool is_direct(const ember_xnn_window_t *window) {
    return window->y.kernel == 1 && window->x.kernel == 1 && window->y.before == 0 &&
           window->x.before == 0 &&
           (window->y.out - 1) * window->y.stride < window->y.in &&
           (window->x.out - 1) * window->x.stride < window->x.in;
}

static void run_image(walk_t *walk, uint32_t batch) {
    ember_xnn_panel_t *panel = &walk->panel;
    const ember_xnn_window_t *window = &walk->window;
    const uint32_t pixels = (uint32_t)window->y.out * (uint32_t)window->x.out;
    const size_t size = (size_t)window->y.in * (uint32_t)window->x.in;
    const uint8_t *image = walk->input + batch * size * walk->pixel_bytes;
    const size_t first = (size_t)batch * pixels * panel->y_step;
    const void *from[XNN_PANEL];
    for (uint32_t pixel = 0; pixel < pixels; pixel += XNN_PANEL) {
        const uint32_t left = pixels - pixel;
        panel->rows = left < XNN_PANEL ? left : XNN_PANEL;
        for (uint32_t group = 0; group < walk->groups; group++) {
            const uint8_t *channels = image + (size_t)group * walk->taps_bytes;
            const uint32_t k = find_rows(walk, cursor_at(walk, channels, pixel), from);
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
    walk.direct = is_direct(&walk.window);
    walk.dense =
        walk.window.x.dilation == 1 && walk.window.y.dilation == 1 && walk.groups == 1;
    for (uint32_t batch = 0; batch < (uint32_t)walk.window.batch; batch++) {
        walk.panel.row = batch;
        walk.fill = input->datatype == XNN_QDS8  ? xnn_rows(input)[batch].zero
                    : input->datatype == XNN_QS8 ? input->zero
                                                 : 0;
        run_image(&walk, batch);
    }
}
