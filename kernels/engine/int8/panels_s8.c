// SPDX-License-Identifier: Apache-2.0
// Convolutions with packed weights. Contract: panels_s8.h.
#include "kernels/engine/int8/panels_s8.h"

#include <stddef.h>
#include <string.h>

enum { X, PANELS, KERNEL, PLACES_DILATION = 5, OFFSET, Y_OFFSET, LOW, HIGH };
enum { MERGED = HIGH + 1, OUT };
enum { N, C, H, W }; // dimensions of images
enum { VECTOR = 128, LANES = 32, PANEL = 4, GROUP = 4, STEP = 8 };
enum { BIAS, MULTIPLIER, SHIFT, NUMBERS = 5 }; // vectors of numbers
enum { LIMIT = 1 << 28, ADDED = 128 };

// --- layout --------------------------------------------------------------------------

static int32_t vectors_of(const ember_panels_s8_t *s) {
    return (s->conv.filters * s->merged + LANES - 1) / LANES;
}

static ptrdiff_t vector_bytes(const ember_panels_s8_t *s) {
    const ptrdiff_t inner = (ptrdiff_t)s->conv.height.kernel * s->segment;
    return NUMBERS * VECTOR + LANES * inner;
}

// Where a vector's panel begins, and its place in it.
typedef struct place {
    const uint8_t *panel;
    int32_t vectors; // of the panel
    int32_t vector;  // of the lane, in the panel
    int32_t word;    // of the lane, in a vector
} place_t;

static place_t place_of(const ember_panels_s8_t *s, int32_t lane) {
    const int32_t vector = lane / LANES;
    const int32_t first = vector / PANEL * PANEL;
    const int32_t left = vectors_of(s) - first;

    return (place_t){.panel = s->panels + first * vector_bytes(s),
                     .vectors = left < PANEL ? left : PANEL,
                     .vector = vector - first,
                     .word = lane % LANES};
}

static int32_t number_of(const place_t *at, int32_t kind) {
    const int32_t vector = at->vector * NUMBERS + kind;
    int32_t number;
    memcpy(&number, at->panel + vector * VECTOR + at->word * GROUP, sizeof(number));
    return number;
}

// The weights of a lane from an element on, a multiple of GROUP, up to the next such.
static const uint8_t *four_of(const place_t *at, ptrdiff_t element) {
    const ptrdiff_t group = element / GROUP * at->vectors + at->vector;
    const uint8_t *weights = at->panel + at->vectors * NUMBERS * VECTOR;
    return weights + group * VECTOR + at->word * GROUP;
}

// --- arguments -----------------------------------------------------------------------

// The class of the numbers of all lanes; EMBER_ROWS_ANY if one is out of range.
static uint8_t rows_of(const ember_panels_s8_t *s) {
    const int32_t lanes = s->conv.filters * s->merged;
    uint8_t rows = EMBER_ROWS_SHIFT;

    for (int32_t first = 0; first < lanes; first += LANES) {
        place_t at = place_of(s, first);
        for (; at.word < LANES && first + at.word < lanes; at.word++) {
            const int32_t multiplier = number_of(&at, MULTIPLIER);
            rows = ember_panels_s8_rows(rows, multiplier, number_of(&at, SHIFT));
        }
    }
    return rows;
}

// Reads the filters and the lengths of their kernels.
bool ember_panels_s8_kernel(ember_conv_s8_t *conv, ember_node_t *node) {
    int32_t items[3] = {0, 0, 0};
    const uint32_t count = ember_node_ints(node, KERNEL, items, 3);

    conv->filters = items[0];
    conv->height.kernel = items[1];
    conv->width.kernel = items[2];
    for (int i = 0; i < 3; i++) {
        if (count != 3 || items[i] < 1 || items[i] > 1 << 16) {
            return false;
        }
    }
    return true;
}

// Sets the elements of a row of a window. False if the panels are not of that size, or
// windows cannot be merged so.
static bool set_segment(ember_panels_s8_t *s, const ember_tensor_t *panels) {
    const ember_conv_s8_axis_t *w = &s->conv.width;
    const int64_t taps = w->kernel + (int64_t)(s->merged - 1) * w->stride;
    const int64_t segment = (taps * s->conv.depth + STEP - 1) / STEP * STEP;
    const bool is_merged = s->merged != 1;

    if (segment > LIMIT || segment * s->conv.height.kernel > LIMIT / LANES ||
        (is_merged && s->conv.filters * s->merged > LANES) ||
        (is_merged && (s->merged > w->out || (w->dilation != 1 && w->kernel != 1)))) {
        return false;
    }
    s->segment = (int32_t)segment;
    const int64_t bytes = (int64_t)vectors_of(s) * vector_bytes(s);
    return ember_panels_s8_are(panels, bytes);
}

static ember_status_t read_panels(ember_panels_s8_t *s, ember_node_t *node) {
    ember_tensor_t panels;

    ember_node_tensor(node, PANELS, &panels);
    s->merged = ember_node_int_in(node, MERGED, 1, LANES);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!set_segment(s, &panels)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "ember: panels of another size");
    }
    s->panels = panels.data;
    if (s->conv.rows != EMBER_ROWS_REAL) {
        s->conv.rows = rows_of(s);
    }
    if (s->conv.rows == EMBER_ROWS_ANY) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "ember: scales in panels");
    }
    return EMBER_OK;
}

ember_status_t ember_panels_s8_image(ember_conv_s8_t *conv, ember_node_t *node) {
    ember_tensor_t x;

    ember_node_tensor(node, X, &x);
    conv->x_offset = (int16_t)ember_zero_point_arg(node, OFFSET);
    conv->scales.zero_point = (int16_t)ember_zero_point_arg(node, Y_OFFSET);
    conv->scales.limits = ember_limits_s8_args(node, LOW, HIGH);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_S8 || !ember_conv_s8_is_image(&x)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "ember: layout");
    }
    conv->x = x.data;
    conv->batches = x.sizes[N];
    conv->channels = x.sizes[C];
    conv->depth = x.sizes[C];
    conv->height.in = x.sizes[H];
    conv->width.in = x.sizes[W];
    return EMBER_OK;
}

ember_status_t ember_panels_s8_output(ember_conv_s8_t *conv, ember_node_t *node,
                                      uint32_t out, uint32_t steps) {
    if (ember_conv_s8_output(conv, node, out) != EMBER_OK) {
        return ember_node_status(node);
    }
    conv->over = conv->y != NULL && conv->y == conv->x;
    if (conv->over) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "ember: an output lies over its input");
    }
    ember_node_work(
        node, (uint32_t)(conv->batches * conv->height.out * conv->width.out), steps);
    return EMBER_OK;
}

ember_status_t ember_panels_s8_weights(ember_panels_s8_t *s, ember_node_t *node) {
    static const ember_conv_s8_places_t places = {.dilation = PLACES_DILATION};
    ember_conv_s8_t *conv = &s->conv;

    if (!ember_panels_s8_kernel(conv, node) || conv->depth < 1 || conv->batches < 0 ||
        !ember_conv_s8_geometry(conv, node, &places)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "ember: sizes or parameters do not fit");
    }
    return read_panels(s, node);
}

uint32_t ember_panels_s8_steps(const ember_panels_s8_t *s) {
    return (uint32_t)(s->conv.filters * s->conv.height.kernel * s->segment);
}

ember_status_t ember_panels_s8_args(ember_panels_s8_t *s, ember_node_t *node) {
    if (ember_panels_s8_image(&s->conv, node) != EMBER_OK ||
        ember_panels_s8_weights(s, node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return ember_panels_s8_output(&s->conv, node, OUT, ember_panels_s8_steps(s));
}

// --- run -----------------------------------------------------------------------------

// The products of a pixel, or of padding where it is NULL, by the weights of a lane
// from an element on.
static uint32_t dot(const ember_conv_s8_t *conv, const int8_t *pixel, const place_t *at,
                    ptrdiff_t element) {
    uint32_t sum = 0;

    for (int32_t c = 0; c < conv->depth; c++, element++) {
        const int32_t w = four_of(at, element)[element % GROUP] - ADDED;
        sum += (uint32_t)((pixel != NULL ? pixel[c] : -conv->x_offset) * w);
    }
    return sum;
}

// The image's element `at` of an axis that is tap `tap` of output `out`; -1 outside.
static int32_t inside(const ember_conv_s8_axis_t *axis, int32_t out, int32_t tap) {
    const int32_t at = out * axis->stride - axis->padding + tap * axis->dilation;
    return at < axis->in ? at : -1;
}

// The first of merged outputs has its weights where a single one has.
static uint32_t sum_window(const ember_panels_s8_t *s, const int8_t *x, int32_t oy,
                           int32_t ox, const place_t *at) {
    const ember_conv_s8_t *conv = &s->conv;
    uint32_t sum = (uint32_t)number_of(at, BIAS);

    for (int32_t ky = 0; ky < conv->height.kernel; ky++) {
        const int32_t y = inside(&conv->height, oy, ky);
        for (int32_t kx = 0; kx < conv->width.kernel; kx++) {
            const int32_t column = inside(&conv->width, ox, kx);
            const ptrdiff_t pixel = (ptrdiff_t)y * conv->width.in + column;
            const bool there = y >= 0 && column >= 0;
            sum += dot(conv, there ? x + pixel * conv->channels : NULL, at,
                       (ptrdiff_t)ky * s->segment + (ptrdiff_t)kx * conv->depth);
        }
    }
    return sum;
}

static void run_pixel(const ember_panels_s8_t *s, const int8_t *x, int32_t oy,
                      int32_t ox, int8_t *y) {
    const ember_scales_s8_t *scales = &s->conv.scales;

    for (int32_t f = 0; f < s->conv.filters; f++) {
        const place_t at = place_of(s, f);
        const ember_requantize_t by = {number_of(&at, MULTIPLIER),
                                       number_of(&at, SHIFT)};
        const int32_t sum = ember_panels_s8_sum(s, x, oy, ox, f);
        y[f] = ember_requantize_s8(sum, by, scales->zero_point, scales->limits);
    }
}

int32_t ember_panels_s8_sum(const void *panels, const int8_t *x, int32_t oy, int32_t ox,
                            int32_t filter) {
    const ember_panels_s8_t *s = panels;
    const place_t at = place_of(s, filter);
    return (int32_t)sum_window(s, x, oy, ox, &at);
}

void ember_panels_s8_run(const ember_panels_s8_t *s) {
    const ember_conv_s8_t *conv = &s->conv;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;

    for (int32_t n = 0; n < conv->batches; n++) {
        for (int32_t oy = 0; oy < conv->height.out; oy++) {
            for (int32_t ox = 0; ox < conv->width.out; ox++) {
                run_pixel(s, x, oy, ox, y);
                y += conv->filters;
            }
        }
        x += (ptrdiff_t)conv->height.in * conv->width.in * conv->channels;
    }
}
