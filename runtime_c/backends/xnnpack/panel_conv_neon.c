// SPDX-License-Identifier: Apache-2.0
// Panels whose rows are the windows of a convolution.
#include "panel_walk.h"
#include "window.h"

#include <arm_neon.h>

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
    return geometry.n > 0 &&
                   ember_xnn_panel_scratch(node, form, &geometry, form->size, 0)
               ? ember_xnn_pack(graph, node, form->layout, &geometry)
               : EMBER_UNSUPPORTED;
}

// --- while it runs -------------------------------------------------------------------

typedef struct walk {
    ember_xnn_panel_t panel;
    ember_xnn_window_t window;
    const uint8_t *input;
    uint8_t *windows; // of a panel, each `pitch` bytes
    size_t pitch;
    uint32_t k;
    uint32_t groups;
    uint32_t taps_bytes;  // of the group's channels of a pixel
    uint32_t pixel_bytes; // of all its channels
    int fill;             // byte of what lies outside of an image
    bool direct;          // windows are pixels of the image
    bool linear;          // and of all pixels
    bool dense;           // lines of a window are behind each other in the image
} walk_t;

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

static void read_window(walk_t *walk) {
    ember_xnn_window_t *window = &walk->window;
    (void)!ember_xnn_window_read(walk->panel.node, window);
    walk->pixel_bytes = (uint32_t)window->channels * walk->panel.form->size;
    walk->direct = is_direct(window);
    walk->linear = walk->direct && window->x.stride == 1 && window->y.stride == 1 &&
                   window->x.out == window->x.in;
    walk->dense =
        window->x.dilation == 1 && window->y.dilation == 1 && walk->groups == 1;
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
            const uint32_t column = group * xnn_padded(panel->n, XNN_PANEL);
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
    walk_t walk = {.input = input->constant,
                   .k = geometry.taps * geometry.k,
                   .groups = geometry.groups,
                   .taps_bytes = geometry.k * form->size};
    walk.windows = ember_xnn_panel_begin(&walk.panel, graph, node, form, &geometry);
    walk.pitch = (size_t)form->size * walk.panel.steps * form->unit;
    read_window(&walk);
    for (uint32_t batch = 0; batch < (uint32_t)walk.window.batch; batch++) {
        walk.panel.row = batch;
        walk.fill = input->datatype == XNN_QDS8  ? xnn_rows(input)[batch].zero
                    : input->datatype == XNN_QS8 ? input->zero
                                                 : 0;
        run_image(&walk, batch);
    }
}
