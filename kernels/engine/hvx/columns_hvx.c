// SPDX-License-Identifier: Apache-2.0
// Convolutions and products of matrices as windows. Contract: columns_hvx.h.
#include "kernels/engine/hvx/columns_hvx.h"

#include <stddef.h>

#include "kernels/engine/int8/conv_s8_run.h"

enum { LANES = EMBER_LANES_HVX };
enum { BYTES_MAX = 1 << 28 };                // of scratch
enum { TILE_PACKETS = 12, MOST_MERGED = 8 }; // for choosing only

// --- the plan ------------------------------------------------------------------------

// Packets that a window of `merged` outputs costs, roughly.
static int64_t cost_of(const ember_conv_s8_t *conv, int32_t merged) {
    const ember_conv_s8_axis_t *w = &conv->width;
    const int64_t run = (int64_t)(w->kernel + (merged - 1) * w->stride) * conv->depth;
    return conv->height.kernel * ((run + 7) / 8 + 1) + TILE_PACKETS;
}

int32_t ember_columns_hvx_merged(const ember_conv_s8_t *conv) {
    const ember_conv_s8_axis_t *w = &conv->width;
    int32_t best = 1;

    if (w->dilation != 1 && w->kernel != 1) {
        return 1;
    }
    for (int32_t n = 2; n <= MOST_MERGED; n++) {
        if (n * conv->filters > LANES || n > w->out) {
            break;
        }
        if (cost_of(conv, n) * best < cost_of(conv, best) * n) {
            best = n;
        }
    }
    return best;
}

// Pixels of images without rows or columns of taps are one row.
static void flatten(ember_cells_hvx_t *s) {
    ember_conv_s8_axis_t *h = &s->height, *w = &s->width;
    const int64_t all = (int64_t)s->batches * h->in * w->in;

    if (h->kernel == 1 && w->kernel == 1 && h->padding == 0 && w->padding == 0 &&
        h->stride == 1 && w->stride == 1 && h->out == h->in && w->out == w->in &&
        s->rows_apart == 1 && s->columns_apart == 1 && all < BYTES_MAX) {
        w->in = (int32_t)all;
        w->out = (int32_t)all;
        h->in = 1;
        h->out = 1;
        s->batches = 1;
    }
}

static int32_t or_else(int32_t number, int32_t other) {
    return number == 0 ? other : number;
}

// The matrix's rows, windows, are the pixels of an image, and a filter a row of
// weights.
static bool plan_im2row(ember_columns_hvx_t *s, const ember_conv_s8_t *conv,
                        const ember_columns_form_hvx_t *form, int32_t merged) {
    s->im2row.cell = 0;
    if (form->packed != NULL || (form->turned && conv->depth == 1) ||
        form->w_offset != 0 || form->pixel != 0 || form->rows_apart > 1 ||
        form->columns_apart > 1) {
        return false;
    }
    ember_im2row_hvx_plan(&s->im2row, conv, merged, BYTES_MAX);
    return s->im2row.cell != 0;
}

static ember_conv_s8_t matrix_conv(const ember_columns_hvx_t *s,
                                   const ember_conv_s8_t *conv) {
    const int32_t windows = ember_im2row_hvx_windows(&s->im2row);
    ember_conv_s8_t one = *conv;

    one.batches = 1;
    one.channels = s->im2row.cell;
    one.depth = (int32_t)ember_conv_s8_taps(conv) * conv->depth;
    one.height = (ember_conv_s8_axis_t){1, 1, 1, 1, 0, 1};
    one.width = (ember_conv_s8_axis_t){windows, windows, 1, 1, 0, 1};
    return one;
}

static void plan_cells(ember_columns_hvx_t *s, const ember_conv_s8_t *conv,
                       const ember_columns_form_hvx_t *form) {
    s->cells = (ember_cells_hvx_t){
        .channels = conv->channels,
        .pixel = or_else(form->pixel, conv->channels),
        .batches = conv->batches,
        .rows_apart = or_else(form->rows_apart, 1),
        .columns_apart = or_else(form->columns_apart, 1),
        .height = conv->height,
        .width = conv->width,
        .padding = (int8_t)-conv->x_offset,
    };
    if (s->cells.width.kernel == 1) { // merged windows have more taps
        s->cells.width.dilation = 1;
    }
    flatten(&s->cells);
    s->columns = s->cells.width.out;
}

// Of windows of `merged` outputs. `whole`: the convolution, `conv` as a matrix has it.
static bool plan_filters(ember_columns_hvx_t *s, const ember_conv_s8_t *conv,
                         const ember_conv_s8_t *whole, bool turned, int32_t merged) {
    ember_conv_s8_axis_t *w = &s->cells.width;
    const int32_t length = w->kernel * conv->depth;
    const int32_t taps = conv->height.kernel * w->kernel;

    w->kernel += (merged - 1) * w->stride;
    w->out = (w->out + merged - 1) / merged;
    const int32_t shift = w->stride * conv->depth;
    w->stride *= merged;
    if (!ember_cells_hvx_plan(&s->cells, BYTES_MAX)) {
        return false;
    }
    s->filters = (ember_filters_hvx_t){
        .w = conv->w,
        .filters = conv->filters,
        .filter = turned ? 1 : taps * conv->depth,
        .element = turned ? conv->filters : 1,
        .channel = (int32_t)ember_conv_s8_taps(whole) * conv->filters,
        .depth = whole->depth,
        .segments = conv->height.kernel,
        .segment = s->cells.window * s->cells.cell,
        .length = length,
        .merged = merged,
        .shift = shift,
    };
    s->terms = (ember_terms_hvx_t){
        .bias = conv->scales.bias,
        .multipliers = conv->scales.multipliers,
        .shifts = conv->scales.shifts,
        .x_offset = conv->x_offset,
    };
    return true;
}

// --- memory --------------------------------------------------------------------------

// Bytes from the first aligned one of scratch to its parts.
typedef struct places {
    int64_t image; // of cells; before, the matrix of windows
    int64_t sums;
    int64_t numbers;
    int64_t block;
    int64_t weights;
    int64_t rows; // of filters; before, of cells, or the image with its padding
} places_t;

static int64_t vectors(int64_t bytes) {
    return (bytes + EMBER_HVX - 1) / EMBER_HVX * EMBER_HVX;
}

static places_t places_of(const ember_columns_hvx_t *s) {
    const bool as_matrix = s->im2row.cell != 0;
    places_t at;

    at.image = as_matrix ? vectors(ember_im2row_hvx_bytes(&s->im2row)) : 0;
    at.sums = at.image + vectors(ember_cells_hvx_image_bytes(&s->cells));
    at.numbers = at.sums + ember_cells_hvx_sums_bytes(&s->cells);
    if (s->packed != NULL) { // a panel is copied, at most, and its parts are as there
        at.block = at.numbers;
        at.weights = at.numbers + EMBER_PANEL_NUMBERS_BYTES;
        at.rows = at.weights + ember_panel_hvx_bytes(&s->filters);
        return at;
    }
    at.block = at.numbers + EMBER_PANEL_NUMBERS_BYTES;
    at.weights = at.block + EMBER_PANEL_BLOCK_BYTES;
    at.rows = at.weights + vectors(ember_panel_hvx_bytes(&s->filters));
    return at;
}

static int64_t greater(int64_t a, int64_t b) {
    return a > b ? a : b;
}

// Bytes of all parts.
static int64_t bytes_of(const ember_columns_hvx_t *s) {
    const bool as_matrix = s->im2row.cell != 0;
    const int64_t padded = as_matrix ? ember_im2row_hvx_room_bytes(&s->im2row) : 0;
    const int64_t room = greater(padded, ember_cells_hvx_room_bytes(&s->cells));
    const places_t at = places_of(s);
    const int64_t rows =
        s->packed != NULL ? 0 : ember_panel_hvx_rows_bytes(&s->filters);
    const int64_t packing = at.rows + rows;
    const int64_t making = at.block + room; // before anything is packed

    return greater(packing, making) + EMBER_HVX;
}

static bool fits(const ember_columns_hvx_t *s, const ember_conv_s8_t *conv) {
    const int64_t x = (int64_t)conv->batches * conv->height.in * conv->width.in;
    const int64_t w = ember_conv_s8_taps(conv) * conv->depth;
    const int64_t y = (int64_t)conv->batches * conv->height.out * conv->width.out;

    return x * conv->channels < BYTES_MAX && y * conv->filters < BYTES_MAX &&
           w < BYTES_MAX / 512 && conv->height.kernel < 1 << 12 &&
           conv->width.kernel < 1 << 12 && s->columns > 0 && y > 0;
}

// What is added to weights would be to those that merged windows have more, too.
static int32_t merged_of(const ember_conv_s8_t *conv,
                         const ember_columns_form_hvx_t *form) {
    if (form->packed != NULL) {
        return form->merged;
    }
    const bool merges = form->w_offset == 0 && (!form->turned || conv->depth == 1);
    return merges ? ember_columns_hvx_merged(conv) : 1;
}

ember_status_t ember_columns_hvx_prepare(ember_columns_hvx_t *s, ember_node_t *node,
                                         const ember_conv_s8_t *conv,
                                         const ember_columns_form_hvx_t *form) {
    if (conv->depth != conv->channels || conv->rows < EMBER_ROWS_RIGHT ||
        conv->x_offset == INT8_MIN) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: groups or scales");
    }
    const int32_t most = merged_of(conv, form);
    const bool as_matrix = plan_im2row(s, conv, form, most);
    const ember_conv_s8_t flat = as_matrix ? matrix_conv(s, conv) : *conv;
    const int32_t merged = as_matrix ? 1 : most;
    plan_cells(s, &flat, form);
    if (!fits(s, conv) || !plan_filters(s, &flat, conv, form->turned, merged)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: too large");
    }
    s->x = conv->x;
    s->y = conv->y;
    s->zero_point = conv->scales.zero_point;
    s->limits = conv->scales.limits;
    s->w_offset = form->w_offset;
    s->shifted = conv->rows >= EMBER_ROWS_SHIFT;
    s->packed = form->packed;
    const int64_t bytes = bytes_of(s);
    if (bytes + form->room > BYTES_MAX) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: too large");
    }
    s->scratch = ember_node_scratch(node, (size_t)(bytes + form->room));
    s->room = s->scratch == NULL ? NULL : s->scratch + bytes;
    return ember_node_status(node);
}

bool ember_columns_hvx_aligned(const ember_columns_hvx_t *s) {
    return !s->cells.direct || s->im2row.cell != 0 ||
           (uintptr_t)s->x % EMBER_STEP_HVX == 0;
}

// --- run -----------------------------------------------------------------------------

static ember_windows_hvx_t windows_of(const ember_columns_hvx_t *s, const int8_t *x,
                                      const int32_t *sums) {
    const ember_cells_hvx_t *cells = &s->cells;
    const int32_t row = cells->columns * cells->cell;

    return (ember_windows_hvx_t){
        .x = x,
        .rows = cells->height.out,
        .columns = cells->width.out,
        .row = cells->height.stride * row,
        .step = cells->step * cells->cell,
        .segments = s->filters.segments,
        .segment = s->filters.segment,
        .pitch = cells->height.dilation * row,
        .firsts = sums,
        .firsts_row = cells->sums_row,
        .firsts_step = cells->step,
    };
}

static void run_panel(const ember_columns_hvx_t *s, const ember_panel_hvx_t *panel,
                      const int8_t *x, const int32_t *sums, int32_t first,
                      const ember_ending_hvx_t *ending) {
    const ember_cells_hvx_t *cells = &s->cells;
    const int32_t rows = cells->height.out;
    const ptrdiff_t batch = (ptrdiff_t)rows * s->columns * s->filters.filters;
    ember_windows_hvx_t windows = windows_of(s, x, sums);
    ember_results_hvx_t results = {
        .y = s->y + first,
        .end = s->y + cells->batches * batch,
        .row = s->columns * s->filters.filters,
        .step = s->filters.merged * s->filters.filters,
        .zero_point = s->zero_point,
        .limits = s->limits,
        .shifted = s->shifted,
        .ending = ending,
    };

    for (int32_t n = 0; n < cells->batches; n++) {
        ember_windows_hvx_run(&windows, panel, &results);
        windows.x += (ptrdiff_t)cells->rows * cells->columns * cells->cell;
        windows.firsts += (ptrdiff_t)rows * cells->sums_row;
        results.y += batch;
    }
}

// The panel from lane `first` on, which the host has packed; at an address that vectors
// cannot read from it is copied to `room`.
static ember_panel_hvx_t packed_panel(const ember_columns_hvx_t *s, int32_t first,
                                      int8_t *room) {
    const int32_t left = s->filters.filters * s->filters.merged - first;
    const int32_t most = EMBER_PANEL_HVX * LANES;
    const int32_t lanes = left < most ? left : most;
    const int32_t vectors = (lanes + LANES - 1) / LANES;
    const int32_t each = ember_panel_hvx_vector_bytes(&s->filters);
    const int8_t *panel = s->packed + (ptrdiff_t)(first / LANES) * each;

    if ((uintptr_t)panel % EMBER_HVX != 0) {
        for (int32_t at = 0; at < vectors * each; at += EMBER_HVX) {
            ember_hvx_store(room + at, ember_hvx_load_any(panel + at));
        }
        panel = room;
    }
    const HVX_Vector *numbers = (const HVX_Vector *)(const void *)panel;
    return (ember_panel_hvx_t){numbers + vectors * EMBER_NUMBERS_HVX, numbers, vectors};
}

// The last panel comes first: what it stores behind its filters belongs to the others.
void ember_columns_hvx_run(const ember_columns_hvx_t *s,
                           const ember_ending_hvx_t *ending) {
    const places_t at = places_of(s);
    int8_t *scratch = ember_aligned_hvx(s->scratch);
    int32_t *sums = (int32_t *)(void *)(scratch + at.sums);
    const ember_panel_memory_hvx_t memory = {
        .weights = (HVX_Vector *)(void *)(scratch + at.weights),
        .numbers = (HVX_Vector *)(void *)(scratch + at.numbers),
        .block = (HVX_Vector *)(void *)(scratch + at.block),
        .rows = scratch + at.rows,
    };
    const int32_t lanes = s->filters.filters * s->filters.merged;
    const int32_t most = EMBER_PANEL_HVX * LANES;
    const int8_t *image = s->x;

    if (s->im2row.cell != 0) {
        ember_im2row_hvx_make(&s->im2row, s->x, scratch, scratch + at.block);
        image = scratch;
    }
    const int8_t *x =
        ember_cells_hvx_make(&s->cells, image, scratch + at.image, scratch + at.block);

    ember_cells_hvx_sum(&s->cells, x, s->w_offset - 128, sums, scratch + at.block);
    for (int32_t first = (lanes - 1) / most * most; first >= 0; first -= most) {
        const ember_panel_hvx_t panel =
            s->packed != NULL
                ? packed_panel(s, first, scratch + at.numbers)
                : ember_panel_hvx_pack(&s->filters, &s->terms, first, &memory);
        run_panel(s, &panel, x, sums, first, ending);
    }
}

// --- convolutions --------------------------------------------------------------------

ember_status_t ember_columns_conv_hvx_prepare(ember_columns_conv_hvx_t *s,
                                              ember_node_t *node, bool turned) {
    const ember_columns_form_hvx_t form = {.turned = turned};

    if (s->conv.over ||
        !ember_columns_hvx_pays(&s->conv, ember_packets_of_conv(&s->conv))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: an output lies over its input, or is small");
    }
    return ember_columns_hvx_prepare(&s->columns, node, &s->conv, &form);
}

void ember_columns_conv_hvx_run(const ember_columns_conv_hvx_t *s, bool depthwise) {
    if (ember_columns_hvx_aligned(&s->columns)) {
        ember_columns_hvx_run(&s->columns, NULL);
    } else {
        ember_conv_s8_run(&s->conv, depthwise);
    }
}
