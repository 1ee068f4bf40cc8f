// SPDX-License-Identifier: Apache-2.0
// The walk over rows and windows. Contract: products_hvx.h.
#include "products_hvx.h"

#include "kernels/engine/hvx/columns_hvx.h"

enum { LANES = EMBER_LANES_HVX, PANEL = EMBER_PANEL_HVX };
enum { BYTES_MAX = 1 << 28 };
enum { PRODUCTS_MIN = 1024 }; // products of a node for which vectors pay

// How a node is computed with its current sizes.
typedef struct plan {
    ember_xnn_geometry_t geometry;
    ember_cells_hvx_t cells; // of one image, or of all rows
    int32_t images;
    int32_t pixels;     // of a row of outputs, before windows were merged
    uint32_t row_step;  // step of QDS8's parameters from window to window
    size_t image_bytes; // of the input
} plan_t;

// --- memory --------------------------------------------------------------------------

// Bytes from the first aligned one of scratch to its parts.
typedef struct places {
    uint64_t sums;    // of windows' elements
    uint64_t numbers; // of a panel
    uint64_t kept;    // sums of windows
    uint64_t weights; // of a panel, unpacked from four bits
    uint64_t room;    // for making cells; nothing else is needed meanwhile
    uint64_t all;
} places_t;

static uint64_t whole(uint64_t bytes) {
    return (bytes + EMBER_HVX - 1) / EMBER_HVX * EMBER_HVX;
}

static places_t places_of(const plan_t *plan, const ember_xnn_hvx_type_t *type) {
    const uint64_t weights =
        type->nibbles ? PANEL * xnn_hvx_weight_bytes(&plan->geometry, false) : 0;
    places_t at;
    at.sums = whole((uint64_t)ember_cells_hvx_image_bytes(&plan->cells));
    at.numbers = at.sums + (uint64_t)ember_cells_hvx_sums_bytes(&plan->cells);
    at.kept = at.numbers + XNN_HVX_NUMBERS * PANEL * EMBER_HVX;
    at.weights = at.kept + XNN_HVX_CHUNK * PANEL * EMBER_HVX;
    at.room = at.numbers;
    const uint64_t making =
        at.room + (uint64_t)ember_cells_hvx_room_bytes(&plan->cells);
    const uint64_t running = at.weights + weights;
    at.all = (making > running ? making : running) + EMBER_HVX;
    return at;
}

// --- the plan ------------------------------------------------------------------------

static ember_conv_s8_axis_t axis_of(const ember_xnn_axis_t *axis) {
    return (ember_conv_s8_axis_t){.in = axis->in,
                                  .out = axis->out,
                                  .kernel = axis->kernel,
                                  .stride = axis->stride,
                                  .padding = axis->before,
                                  .dilation = axis->dilation};
}

// Windows of adjacent outputs are merged as long as lanes are free. The decision
// depends on no size that can change.
static uint32_t merge(plan_t *plan) {
    ember_conv_s8_axis_t *w = &plan->cells.width;
    const ember_conv_s8_t conv = {
        .filters = (int32_t)plan->geometry.n,
        .depth = plan->cells.channels,
        .height = plan->cells.height,
        .width = {INT32_MAX, INT32_MAX, w->kernel, w->stride, 0, w->dilation}};
    // Each row of QDS8 has parameters of its own.
    const bool separate = plan->geometry.groups > 1 || plan->row_step != 0;
    const int32_t merged = separate ? 1 : ember_columns_hvx_merged(&conv);
    const int32_t shift = w->stride * plan->cells.channels;
    w->kernel += (merged - 1) * w->stride;
    w->out = (w->out + merged - 1) / merged;
    w->stride *= merged;
    return (uint32_t)(merged + 16 * (merged > 1 ? shift : 0));
}

// Whether an argument is, or during init may be, where a direct image must not be.
static bool may_be_odd(const ember_xnn_value_t *input) {
    return input->place == XNN_INPUT &&
           (input->data == NULL || (uintptr_t)input->data % EMBER_STEP_HVX != 0);
}

// False if sizes are too large.
static bool finish(plan_t *plan, const ember_xnn_node_t *node) {
    ember_cells_hvx_t *cells = &plan->cells;
    ember_xnn_geometry_t *geometry = &plan->geometry;
    const uint64_t pixels = (uint64_t)cells->height.out * (uint32_t)cells->width.out;
    cells->batches = 1;
    if (geometry->n == 0 || geometry->n > BYTES_MAX / 1024 || pixels == 0 ||
        geometry->k > BYTES_MAX / 1024 || cells->width.kernel >= 1 << 12 ||
        cells->height.kernel >= 1 << 12 || cells->width.stride >= 1 << 16 ||
        (int64_t)cells->width.stride * cells->channels >= 1 << 24) {
        return false;
    }
    if (cells->width.kernel == 1) { // merged windows have more taps
        cells->width.dilation = 1;
    }
    plan->pixels = cells->width.out;
    geometry->unit = merge(plan);
    cells->copied =
        cells->copied || may_be_odd(node->in[0]) || xnn_hvx_merged(geometry) > 1;
    return ember_cells_hvx_plan(cells, BYTES_MAX);
}

static bool plan_linear(plan_t *plan, const ember_xnn_node_t *node) {
    const bool transposed = (node->flags & FLAG_TRANSPOSE_WEIGHTS) != 0;
    const ember_xnn_value_t *weights = node->in[1];
    const uint32_t n = (uint32_t)weights->sizes[transposed ? 1 : 0];
    const uint32_t k = (uint32_t)xnn_size(weights, transposed);
    const int32_t rows = n > 0 ? (int32_t)(node->out[0]->numel / n) : 0;
    const ember_conv_s8_axis_t one = {1, 1, 1, 1, 0, 1};
    *plan = (plan_t){
        .geometry = {1, n, 1, k, 0, 0, transposed},
        .cells = {.channels = (int32_t)k,
                  .pixel = (int32_t)k,
                  .rows_apart = 1,
                  .columns_apart = 1,
                  .height = one,
                  .width = {rows, rows, 1, 1, 0, 1}},
        .images = 1,
        .row_step = node->in[0]->datatype == XNN_QDS8,
    };
    return finish(plan, node);
}

// Images of single pixels are one row.
static void flatten(ember_cells_hvx_t *cells) {
    ember_conv_s8_axis_t *h = &cells->height, *w = &cells->width;
    if (h->kernel == 1 && w->kernel == 1 && h->stride == 1 && w->stride == 1 &&
        h->out == h->in && w->out == w->in && h->in < BYTES_MAX / w->in) {
        w->in *= h->in;
        w->out = w->in;
        h->in = 1;
        h->out = 1;
    }
}

static bool plan_window(plan_t *plan, const ember_xnn_node_t *node,
                        const ember_xnn_window_t *window) {
    const uint32_t *params = node->params;
    const uint32_t depth = params[CONV_GROUP_INPUTS];
    const uint64_t run = (uint64_t)params[CONV_KERNEL + 1] * depth;
    const bool ends = params[CONV_PADDING + 1] != 0 || params[CONV_PADDING + 2] != 0;
    if (run > BYTES_MAX / 1024 || depth == 0) {
        return false;
    }
    *plan = (plan_t){
        .geometry = {params[CONV_GROUPS], params[CONV_GROUP_OUTPUTS],
                     params[CONV_KERNEL], (uint32_t)run, 0, 0, 0},
        .cells = {.channels = (int32_t)depth,
                  .pixel = window->channels,
                  .rows_apart = 1,
                  .columns_apart = 1,
                  .height = axis_of(&window->y),
                  .width = axis_of(&window->x),
                  .copied = ends},
        .images = window->batch,
        .image_bytes =
            (size_t)window->y.in * (size_t)window->x.in * (uint32_t)window->channels,
    };
    flatten(&plan->cells);
    return true;
}

static bool plan_conv(plan_t *plan, const ember_xnn_node_t *node) {
    ember_xnn_window_t window;
    return ember_xnn_window_read(node, &window) && plan_window(plan, node, &window) &&
           finish(plan, node);
}

// An axis of a transposed convolution: the input's elements are spread apart, and a
// flipped window slides over them. False if more is cropped than it adds.
static bool spread(ember_conv_s8_axis_t *axis, int32_t *apart) {
    axis->padding = (axis->kernel - 1) * axis->dilation - axis->padding;
    *apart = axis->stride;
    axis->stride = 1;
    return axis->padding >= 0;
}

static bool plan_transposed(plan_t *plan, const ember_xnn_node_t *node) {
    ember_xnn_window_t window;
    if (!ember_xnn_transposed_read(node, &window) ||
        !plan_window(plan, node, &window)) {
        return false;
    }
    ember_cells_hvx_t *cells = &plan->cells;
    plan->geometry.block = (uint32_t)cells->channels;
    cells->height = axis_of(&window.y);
    cells->width = axis_of(&window.x);
    cells->copied = true;
    return spread(&cells->height, &cells->rows_apart) &&
           spread(&cells->width, &cells->columns_apart) && finish(plan, node);
}

// --- init ----------------------------------------------------------------------------

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                              const ember_xnn_hvx_type_t *type, const plan_t *plan) {
    const places_t at = places_of(plan, type);
    if (ember_xnn_work(node) < PRODUCTS_MIN || at.all > BYTES_MAX) {
        return EMBER_UNSUPPORTED;
    }
    node->scratch = (uint32_t)at.all;
    return ember_xnn_pack(graph, node, type->layout, &plan->geometry);
}

ember_status_t ember_xnn_hvx_linear(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                    const ember_xnn_hvx_type_t *type) {
    const ember_status_t status = ember_xnn_linear_prepare(graph, node, type->type);
    plan_t plan;
    if (status != EMBER_OK) {
        return status;
    }
    return plan_linear(&plan, node) ? prepare(graph, node, type, &plan)
                                    : EMBER_UNSUPPORTED;
}

ember_status_t ember_xnn_hvx_conv(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                  const ember_xnn_hvx_type_t *type) {
    const ember_status_t status = ember_xnn_conv_prepare(graph, node, type->type);
    plan_t plan;
    if (status != EMBER_OK) {
        return status;
    }
    return plan_conv(&plan, node) ? prepare(graph, node, type, &plan)
                                  : EMBER_UNSUPPORTED;
}

ember_status_t ember_xnn_hvx_transposed(ember_xnn_graph_t *graph,
                                        ember_xnn_node_t *node,
                                        const ember_xnn_hvx_type_t *type) {
    const ember_status_t status = ember_xnn_conv_prepare(graph, node, type->type);
    plan_t plan;
    if (status != EMBER_OK) {
        return status;
    }
    return plan_transposed(&plan, node) ? prepare(graph, node, type, &plan)
                                        : EMBER_UNSUPPORTED;
}

// --- execute -------------------------------------------------------------------------

void ember_xnn_hvx_spread(const ember_xnn_hvx_panel_t *panel, int32_t vector,
                          const void *all, HVX_Vector *to) {
    const uint8_t *numbers = (const uint8_t *)all + (size_t)4 * panel->column;
    const uint32_t first = panel->first + (uint32_t)vector * LANES;
    const uint32_t left = panel->first + panel->lanes - first;
    const uint32_t count = left < LANES ? left : LANES;
    if (first + count <= panel->columns) {
        ember_hvx_store(
            to, ember_hvx_load_part(numbers + (size_t)4 * first, (int32_t)count * 4));
        return;
    }
    uint32_t at = first % panel->columns;
    for (uint32_t i = 0; i < count; i++) {
        memcpy((uint8_t *)to + 4 * i, numbers + (size_t)4 * at, 4);
        at = at + 1 < panel->columns ? at + 1 : 0;
    }
}

void ember_xnn_hvx_unpack(const uint8_t *from, uint64_t steps, int32_t vectors,
                          uint8_t *to) {
    const HVX_Vector low = Q6_Vb_vsplat_R(15);
    for (uint64_t i = 0; i < steps; i++) {
        for (int32_t v = 0; v < vectors; v++) {
            const HVX_Vector both = ember_hvx_load_any(from);
            const HVX_Vector high = Q6_V_vand_VV(Q6_Vuw_vlsr_VuwR(both, 4), low);
            ember_hvx_store(to, Q6_V_vand_VV(both, low));
            ember_hvx_store(to + (size_t)vectors * EMBER_HVX, high);
            from += EMBER_HVX;
            to += EMBER_HVX;
        }
        to += (size_t)vectors * EMBER_HVX;
    }
}

// The state of a run.
typedef struct walk {
    const plan_t *plan;
    const ember_xnn_hvx_type_t *type;
    const int8_t *cells;
    const int32_t *firsts;
    const HVX_Vector *weights;
    size_t y;     // element of the output at which the image's columns begin
    size_t pixel; // elements of an output pixel
    uint32_t row; // row of the parameters of QDS8
} walk_t;

// Windows [x, x + count) of row y of outputs.
static void run_some(const walk_t *walk, const ember_xnn_hvx_panel_t *panel, int32_t y,
                     int32_t x, int32_t count) {
    const plan_t *plan = walk->plan;
    const ember_cells_hvx_t *cells = &plan->cells;
    const ptrdiff_t row = (ptrdiff_t)cells->columns * cells->cell;
    const ptrdiff_t step = (ptrdiff_t)cells->step * cells->cell;
    const ember_windows_hvx_t windows = {
        .x = walk->cells + y * cells->height.stride * row + x * step,
        .rows = 1,
        .columns = count,
        .step = (int32_t)step,
        .segments = cells->height.kernel,
        .segment = cells->window * cells->cell,
        .pitch = (int32_t)(cells->height.dilation * row),
        .firsts = walk->firsts + (ptrdiff_t)y * cells->sums_row + x * cells->step,
        .firsts_step = cells->step,
    };
    const int32_t merged = (int32_t)xnn_hvx_merged(&plan->geometry);
    const size_t pixel = (size_t)y * (size_t)plan->pixels + (size_t)x * (size_t)merged;
    const size_t to = walk->y + pixel * walk->pixel + panel->first;
    const uint32_t past = (uint32_t)(x + count) * (uint32_t)merged;
    const uint32_t missing =
        past > (uint32_t)plan->pixels ? past - (uint32_t)plan->pixels : 0;
    const uint32_t row_at = walk->row + (uint32_t)x * plan->row_step;
    ember_windows_hvx_sum(&windows, walk->weights, panel->numbers, panel->vectors,
                          panel->sums);
    if (missing == 0) {
        walk->type->end(panel, (uint32_t)count, panel->lanes, to, row_at,
                        plan->row_step);
        return;
    }
    walk->type->end(panel, (uint32_t)count - 1, panel->lanes, to, row_at,
                    plan->row_step);
    ember_xnn_hvx_panel_t last = *panel;
    last.sums += (count - 1) * panel->vectors;
    walk->type->end(&last, 1, panel->lanes - missing * panel->columns,
                    to + ((size_t)count - 1) * panel->y_step,
                    row_at + ((uint32_t)count - 1) * plan->row_step, plan->row_step);
}

static void run_panel(const walk_t *walk, const ember_xnn_hvx_panel_t *panel) {
    const ember_cells_hvx_t *cells = &walk->plan->cells;
    walk->type->begin(panel);
    for (int32_t y = 0; y < cells->height.out; y++) {
        for (int32_t x = 0; x < cells->width.out; x += XNN_HVX_CHUNK) {
            const int32_t left = cells->width.out - x;
            run_some(walk, panel, y, x, left < XNN_HVX_CHUNK ? left : XNN_HVX_CHUNK);
        }
    }
}

// All panels of a group, whose packed weights begin at `packed`. Returns the next
// group's.
static const uint8_t *run_group(walk_t *walk, ember_xnn_hvx_panel_t *panel,
                                const uint8_t *packed, uint8_t *unpacked) {
    const ember_xnn_geometry_t *geometry = &walk->plan->geometry;
    const bool nibbles = walk->type->nibbles;
    const uint64_t bytes = xnn_hvx_weight_bytes(geometry, nibbles);
    for (uint32_t i = 0; i < xnn_hvx_all_lanes(geometry); i += XNN_HVX_LANES) {
        panel->first = i;
        panel->lanes = xnn_hvx_lanes(geometry, i);
        panel->vectors = (int32_t)xnn_hvx_vectors(geometry, i);
        panel->own = packed;
        packed += (size_t)panel->vectors * EMBER_HVX;
        walk->weights = (const HVX_Vector *)(const void *)packed;
        if (nibbles) {
            ember_xnn_hvx_unpack(packed, bytes / EMBER_HVX, panel->vectors, unpacked);
            walk->weights = (const HVX_Vector *)(const void *)unpacked;
        }
        run_panel(walk, panel);
        packed += (size_t)panel->vectors * bytes;
    }
    return packed;
}

// The padding around an image.
static int8_t padding_of(const ember_xnn_value_t *input, uint32_t image) {
    return (int8_t)(input->datatype == XNN_QDS8 ? xnn_rows(input)[image].zero
                                                : input->zero);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node,
                const ember_xnn_hvx_type_t *type, const plan_t *plan) {
    const places_t at = places_of(plan, type);
    const ember_xnn_geometry_t *geometry = &plan->geometry;
    uint8_t *scratch = (uint8_t *)ember_aligned_hvx((int8_t *)graph->work);
    const size_t images = plan->images > 0 ? (size_t)plan->images : 1;
    const size_t out = node->out[0]->numel / images;
    const int8_t *image = node->in[0]->constant;
    int32_t *firsts = (int32_t *)(void *)(scratch + at.sums);
    int8_t *room = (int8_t *)scratch + at.room;
    ember_cells_hvx_t cells = plan->cells;
    walk_t walk = {.plan = plan,
                   .type = type,
                   .firsts = firsts,
                   .pixel = (size_t)geometry->groups * geometry->n};
    ember_xnn_hvx_panel_t panel = {
        .node = node,
        .numbers = (HVX_Vector *)(void *)(scratch + at.numbers),
        .sums = (HVX_Vector *)(void *)(scratch + at.kept),
        .columns = geometry->n,
        .y_step = walk.pixel * xnn_hvx_merged(geometry),
    };
    if (node->out[0]->datatype == XNN_QS8) {
        (void)ember_xnn_range(node, &panel.range);
    }
    for (uint32_t i = 0; i < (uint32_t)plan->images; i++) {
        const uint8_t *packed = node->packed;
        walk.row = plan->row_step == 0 ? i : 0;
        cells.padding = padding_of(node->in[0], i);
        for (uint32_t group = 0; group < geometry->groups; group++) {
            const int8_t *x = image + (size_t)group * (uint32_t)cells.channels;
            panel.column = group * geometry->n;
            walk.y = i * out + panel.column;
            walk.cells = ember_cells_hvx_make(&cells, x, (int8_t *)scratch, room);
            ember_cells_hvx_sum(&cells, walk.cells, -type->added, firsts, room);
            packed = run_group(&walk, &panel, packed, scratch + at.weights);
        }
        image += plan->image_bytes;
    }
}

void ember_xnn_hvx_linear_run(const ember_xnn_graph_t *graph,
                              const ember_xnn_node_t *node,
                              const ember_xnn_hvx_type_t *type) {
    plan_t plan;
    if (plan_linear(&plan, node)) {
        run(graph, node, type, &plan);
    }
}

void ember_xnn_hvx_conv_run(const ember_xnn_graph_t *graph,
                            const ember_xnn_node_t *node,
                            const ember_xnn_hvx_type_t *type) {
    plan_t plan;
    if (plan_conv(&plan, node)) {
        run(graph, node, type, &plan);
    }
}

void ember_xnn_hvx_transposed_run(const ember_xnn_graph_t *graph,
                                  const ember_xnn_node_t *node,
                                  const ember_xnn_hvx_type_t *type) {
    plan_t plan;
    if (plan_transposed(&plan, node)) {
        run(graph, node, type, &plan);
    }
}
