// SPDX-License-Identifier: Apache-2.0
// grid_sampler_2d: each output pixel is the input's at a point that the grid names, in
// [-1, 1] across the image; a mean of up to sixteen pixels near it. Any float dtype;
// points and weights are float32.
#include <string.h>

#include "kernels/engine/element.h"
#include "kernels/engine/mathf.h"
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
    float weight;
} tap_t;

typedef struct {
    tap_t items[MOST_TAPS];
    uint32_t count;
} taps_t;

// From [-1, 1] to pixels: to the centres of those at the ends, or to their edges.
static float to_pixels(const state_t *s, uint32_t d, float x) {
    const float size = (float)s->in[d];

    return s->align ? (x + 1.0f) / 2.0f * (size - 1.0f)
                    : ((x + 1.0f) * size - 1.0f) / 2.0f;
}

static float reflected(float x, float low, float high) {
    const float span = high - low;

    if (!(span > 0.0f)) {
        return 0.0f;
    }
    const float way = ember_fabsf(x - low);
    const float rest = ember_fmodf(way, span);
    const float flips = ember_floorf(way / span);
    return ember_fmodf(flips, 2.0f) == 0.0f ? rest + low : span - rest + low;
}

// Where a pixel beyond the ends is taken from.
static float padded(const state_t *s, uint32_t d, float x) {
    const float last = (float)(s->in[d] - 1);

    if (s->padding == ZEROS) {
        return x;
    }
    if (s->padding == REFLECTION) {
        x = s->align ? reflected(x, 0.0f, last) : reflected(x, -0.5f, last + 0.5f);
    }
    return x > 0.0f ? (x < last ? x : last) : 0.0f;
}

// Adds pixel (y, x), whole numbers unless they are NaN, if there is one.
static void add_tap(const state_t *s, taps_t *taps, float y, float x, float weight) {
    if (y >= 0.0f && y < (float)s->in[0] && x >= 0.0f && x < (float)s->in[1]) {
        const ptrdiff_t row = (int32_t)y;
        const ptrdiff_t column = (int32_t)x;
        taps->items[taps->count].at =
            row * s->input_steps[2] + column * s->input_steps[3];
        taps->items[taps->count++].weight = weight;
    }
}

// The weights of four pixels in a row, the point being `t` behind the second.
static void cubic_weights(float t, float weights[4]) {
    const float a = -0.75f;

    for (uint32_t i = 0; i < 4; i++) {
        const float x = ember_fabsf(t + 1.0f - (float)i);
        weights[i] = i == 1 || i == 2
                         ? ((a + 2.0f) * x - (a + 3.0f)) * x * x + 1.0f
                         : ((a * x - 5.0f * a) * x + 8.0f * a) * x - 4.0f * a;
    }
}

static void bicubic(const state_t *s, taps_t *taps, float y, float x) {
    const float top = ember_floorf(y);
    const float left = ember_floorf(x);
    float rows[4], columns[4];

    cubic_weights(y - top, rows);
    cubic_weights(x - left, columns);
    for (uint32_t i = 0; i < 4; i++) {
        const float row = padded(s, 0, top - 1.0f + (float)i);
        for (uint32_t j = 0; j < 4; j++) {
            add_tap(s, taps, row, padded(s, 1, left - 1.0f + (float)j),
                    rows[i] * columns[j]);
        }
    }
}

static void bilinear(const state_t *s, taps_t *taps, float y, float x) {
    const float top = ember_floorf(y);
    const float left = ember_floorf(x);
    const float down = y - top;
    const float right = x - left;

    add_tap(s, taps, top, left, (1.0f - down) * (1.0f - right));
    add_tap(s, taps, top, left + 1.0f, (1.0f - down) * right);
    add_tap(s, taps, top + 1.0f, left, down * (1.0f - right));
    add_tap(s, taps, top + 1.0f, left + 1.0f, down * right);
}

// Half of the point at `at`, in pixels.
static float coordinate(const state_t *s, uint32_t d, const char *at) {
    ember_number_t number; // any float on its way to float32

    ember_elements_load(EMBER_CLASS_F32, &number, s->dtype, at, 0, 1);
    return to_pixels(s, d, number.f32);
}

// The pixels that the point at `point` of the grid mixes.
static void find_taps(const state_t *s, taps_t *taps, const char *point) {
    const float x = coordinate(s, 1, point);
    const float y = coordinate(s, 0, point + s->grid_steps[3]);

    taps->count = 0;
    if (s->mode == BICUBIC) {
        bicubic(s, taps, y, x);
    } else if (s->mode == NEAREST) {
        add_tap(s, taps, ember_roundf(padded(s, 0, y)), ember_roundf(padded(s, 1, x)),
                1.0f);
    } else {
        bilinear(s, taps, padded(s, 0, y), padded(s, 1, x));
    }
}

static void mix(const state_t *s, const taps_t *taps, const char *image, char *out) {
    const ember_class_t class = ember_class_of(s->dtype);
    ember_number_t sum, pixel;

    memset(&sum, 0, sizeof(sum));
    for (uint32_t k = 0; k < taps->count; k++) {
        const tap_t *tap = &taps->items[k];
        ember_elements_load(class, &pixel, s->dtype, image + tap->at, 0, 1);
        if (class == EMBER_CLASS_F32) {
            sum.f32 += pixel.f32 * tap->weight;
        } else {
            sum.f64 += pixel.f64 * (double)tap->weight;
        }
    }
    ember_elements_store(class, &sum, s->dtype, out, 0, 1);
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
