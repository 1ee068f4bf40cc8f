// SPDX-License-Identifier: Apache-2.0
// grid_sampler_2d: each output pixel is the input's at a point of the grid, in [-1, 1]
// across the image, mixed from up to sixteen pixels near it. Any float dtype. As in
// PyTorch, every step is rounded to it: floor and round depend on it.
#include <math.h>
#include <string.h>

#include "kernels/engine/axis.h"
#include "kernels/engine/view.h"

enum { INPUT, GRID, MODE, PADDING, ALIGN, OUT };
enum { BILINEAR, NEAREST, BICUBIC };
enum { ZEROS, BORDER, REFLECTION };
enum { MOST_TAPS = 16 };

typedef struct {
    const char *input; // (n, c, in[0], in[1])
    const char *grid;  // (n, out[0], out[1], 2), as (x, y)
    char *out;         // (n, c, out[0], out[1])
    int32_t batches;
    int32_t channels;
    int32_t in[2]; // height and width
    int32_t sizes[2];
    int32_t input_steps[4]; // bytes
    int32_t grid_steps[4];
    int32_t out_steps[4];
    uint8_t dtype;
    uint8_t mode;
    uint8_t padding;
    bool align;
} state_t;

typedef struct {
    ptrdiff_t at; // bytes from the image's first pixel
    double weight;
} tap_t;

typedef struct {
    tap_t items[MOST_TAPS];
    uint32_t count;
} taps_t;

// A number rounded to the dtype.
static double rounded(const state_t *s, double x) {
    uint64_t element = 0;

    if (s->dtype == EMBER_F64) {
        return x;
    }
    if (s->dtype == EMBER_F32) {
        return (double)(float)x;
    }
    ember_store_double(s->dtype, &element, x);
    return ember_load_double(s->dtype, &element);
}

// From [-1, 1] to pixels: to the centres of the outermost ones, or to their edges.
static double to_pixels(const state_t *s, uint32_t d, double x) {
    const double half = (s->align ? s->in[d] - 1 : s->in[d]) / 2.0;
    const double scaled = rounded(s, rounded(s, x + 1.0) * rounded(s, half));

    return s->align ? scaled : rounded(s, scaled - 0.5);
}

// Mirrored at 0 and at `span` as often as needed.
static double mirrored(const state_t *s, double x, double span) {
    const double way = fabs(x);
    const double both = 2.0 * span;

    if (!(span > 0.0) || !(way < 1e18)) {
        return 0.0;
    }
    const double turns = trunc(rounded(s, way / both));
    const double rest = rounded(s, way - rounded(s, turns * both));
    const double back = rounded(s, both - rest);
    return rest < back ? rest : back;
}

// Where a pixel beyond the ends is taken from.
static double padded(const state_t *s, uint32_t d, double x) {
    const double last = s->in[d] - 1;

    if (s->padding == ZEROS) {
        return x;
    }
    if (s->padding == REFLECTION) {
        x = s->align ? mirrored(s, x, last)
                     : rounded(s, mirrored(s, rounded(s, x + 0.5), last + 1.0) - 0.5);
    }
    return x > 0.0 ? (x < last ? x : last) : 0.0;
}

// Adds pixel (y, x) if it exists; both are integers unless they are NaN.
static void add_tap(const state_t *s, taps_t *taps, double y, double x, double weight) {
    if (y >= 0.0 && y < s->in[0] && x >= 0.0 && x < s->in[1]) {
        const ptrdiff_t row = (int32_t)y;
        const ptrdiff_t column = (int32_t)x;
        taps->items[taps->count].at =
            row * s->input_steps[2] + column * s->input_steps[3];
        taps->items[taps->count++].weight = weight;
    }
}

// a * b + c
static double scaled(const state_t *s, double a, double b, double c) {
    return rounded(s, rounded(s, a * b) + c);
}

// The weights of four pixels in a row; the point is `t` after the second.
static void cubic_weights(const state_t *s, double t, double weights[4]) {
    const double a = -0.75;

    for (uint32_t i = 0; i < 4; i++) {
        const double x = rounded(s, fabs(t + 1.0 - i));
        if (i == 1 || i == 2) {
            const double y = rounded(s, scaled(s, a + 2.0, x, -(a + 3.0)) * x);
            weights[i] = scaled(s, y, x, 1.0);
        } else {
            const double y = scaled(s, scaled(s, a, x, -5.0 * a), x, 8.0 * a);
            weights[i] = scaled(s, y, x, -4.0 * a);
        }
    }
}

static void bicubic(const state_t *s, taps_t *taps, double y, double x) {
    const double top = floor(y);
    const double left = floor(x);
    double rows[4], columns[4];

    cubic_weights(s, rounded(s, y - top), rows);
    cubic_weights(s, rounded(s, x - left), columns);
    for (uint32_t i = 0; i < 4; i++) {
        const double row = padded(s, 0, top - 1.0 + i);
        for (uint32_t j = 0; j < 4; j++) {
            add_tap(s, taps, row, padded(s, 1, left - 1.0 + j), rows[i] * columns[j]);
        }
    }
}

static void bilinear(const state_t *s, taps_t *taps, double y, double x) {
    const double top = floor(y);
    const double left = floor(x);
    const double down = rounded(s, y - top);
    const double right = rounded(s, x - left);
    const double up = rounded(s, 1.0 - down);
    const double back = rounded(s, 1.0 - right);

    add_tap(s, taps, top, left, rounded(s, up * back));
    add_tap(s, taps, top, left + 1.0, rounded(s, up * right));
    add_tap(s, taps, top + 1.0, left, rounded(s, down * back));
    add_tap(s, taps, top + 1.0, left + 1.0, rounded(s, down * right));
}

// The pixels that are mixed for the grid's point at `point`.
static void find_taps(const state_t *s, taps_t *taps, const char *point) {
    const char *second = point + s->grid_steps[3];
    const double x = to_pixels(s, 1, ember_load_double(s->dtype, point));
    const double y = to_pixels(s, 0, ember_load_double(s->dtype, second));

    taps->count = 0;
    if (s->mode == BICUBIC) {
        bicubic(s, taps, y, x);
    } else if (s->mode == NEAREST) {
        add_tap(s, taps, rint(padded(s, 0, y)), rint(padded(s, 1, x)), 1.0);
    } else {
        bilinear(s, taps, padded(s, 0, y), padded(s, 1, x));
    }
}

static float mixed_f32(const taps_t *taps, const char *image) {
    float sum = 0.0f;

    for (uint32_t k = 0; k < taps->count; k++) {
        const tap_t *tap = &taps->items[k];
        sum += *(const float *)(const void *)(image + tap->at) * (float)tap->weight;
    }
    return sum;
}

static void mix(const state_t *s, const taps_t *taps, const char *image, char *out) {
    double sum = 0.0;

    if (s->dtype == EMBER_F32) {
        *(float *)(void *)out = mixed_f32(taps, image);
        return;
    }
    for (uint32_t k = 0; k < taps->count; k++) {
        const tap_t *tap = &taps->items[k];
        const double pixel = ember_load_double(s->dtype, image + tap->at);
        sum = scaled(s, pixel, tap->weight, sum);
    }
    ember_store_double(s->dtype, out, sum);
}

static void run_image(const state_t *s, const char *image, const char *grid,
                      char *out) {
    taps_t taps;

    for (int32_t i = 0; i < s->sizes[0]; i++) {
        for (int32_t j = 0; j < s->sizes[1]; j++) {
            find_taps(s, &taps,
                      grid + (ptrdiff_t)i * s->grid_steps[1] +
                          (ptrdiff_t)j * s->grid_steps[2]);
            char *pixel =
                out + (ptrdiff_t)i * s->out_steps[2] + (ptrdiff_t)j * s->out_steps[3];
            for (int32_t c = 0; c < s->channels; c++) {
                mix(s, &taps, image + (ptrdiff_t)c * s->input_steps[1],
                    pixel + (ptrdiff_t)c * s->out_steps[1]);
            }
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;

    for (int32_t n = 0; n < s->batches; n++) {
        run_image(s, s->input + (ptrdiff_t)n * s->input_steps[0],
                  s->grid + (ptrdiff_t)n * s->grid_steps[0],
                  s->out + (ptrdiff_t)n * s->out_steps[0]);
    }
    return EMBER_OK;
}

static ember_status_t set_output(state_t *s, ember_node_t *node,
                                 const ember_view_t *input, const ember_view_t *grid) {
    const int32_t sizes[4] = {input->sizes[0], input->sizes[1], grid->sizes[1],
                              grid->sizes[2]};
    ember_tensor_t out;
    ember_view_t to;

    ember_node_output(node, OUT, 4, sizes, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (ember_class_of(out.dtype) == EMBER_CLASS_S64 || out.dtype != input->dtype ||
        out.dtype != grid->dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "grid_sampler: dtypes");
    }
    const uint32_t taps = s->mode == BICUBIC ? 16 : s->mode == BILINEAR ? 4 : 1;
    ember_node_work(node, out.numel, taps * EMBER_STEPS_ANY);
    ember_view_tensor(&to, &out);
    s->out = out.data;
    s->dtype = out.dtype;
    s->batches = out.numel > 0 ? sizes[0] : 0;
    s->channels = sizes[1];
    memcpy(s->sizes, sizes + 2, sizeof(s->sizes));
    memcpy(s->out_steps, to.strides, sizeof(s->out_steps));
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_view_t input, grid;

    ember_view_arg(&input, node, INPUT);
    ember_view_arg(&grid, node, GRID);
    s->mode = (uint8_t)ember_node_int_in(node, MODE, BILINEAR, BICUBIC);
    s->padding = (uint8_t)ember_node_int_in(node, PADDING, ZEROS, REFLECTION);
    s->align = ember_node_bool(node, ALIGN);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (input.rank != 4 || grid.rank != 4 || grid.sizes[0] != input.sizes[0] ||
        grid.sizes[3] != 2 || input.sizes[2] < 1 || input.sizes[3] < 1) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "grid_sampler: shapes");
    }
    s->input = input.data;
    s->grid = grid.data;
    memcpy(s->in, input.sizes + 2, sizeof(s->in));
    memcpy(s->input_steps, input.strides, sizeof(s->input_steps));
    memcpy(s->grid_steps, grid.strides, sizeof(s->grid_steps));
    return set_output(s, node, &input, &grid);
}

EMBER_KERNEL(grid_sampler_2d, state_t);
