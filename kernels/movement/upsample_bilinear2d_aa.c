// SPDX-License-Identifier: Apache-2.0
// upsample_bilinear2d_aa: each pixel is a mean of those of the input within a triangle
// around it, which is as wide as two pixels of the coarser image. Any float dtype;
// weights are float32.
#include <string.h>

#include "kernels/engine/element.h"
#include "kernels/engine/view.h"

enum { INPUT, SIZE, ALIGN, SCALE_H, SCALE_W, OUT };

typedef struct {
    const char *in;
    char *out;
    int32_t sizes[4];   // of the output
    int32_t in_size[2]; // height and width
    int32_t to[4];      // strides, bytes
    int32_t from[4];
    float step[2]; // input pixels per output pixel
    uint8_t dtype;
} state_t;

// The input positions that an output position mixes.
typedef struct {
    int32_t first;
    int32_t past;
    float centre;  // of the triangle, from `first`
    float inverse; // 1 / its half width
    float total;   // of its heights
} span_t;

static float height(const span_t *span, int32_t at) {
    const float x = ((float)(at - span->first) - span->centre) * span->inverse;
    const float away = x < 0.0f ? -x : x;

    return away < 1.0f ? 1.0f - away : 0.0f;
}

static int32_t within(float x, int32_t size) {
    return x > 0.0f ? (x < (float)size ? (int32_t)x : size) : 0;
}

static span_t span_of(const state_t *s, uint32_t d, int32_t at) {
    const float support = s->step[d] >= 1.0f ? s->step[d] : 1.0f;
    const float centre = s->step[d] * ((float)at + 0.5f);
    span_t span = {.first = within(centre - support + 0.5f, s->in_size[d]),
                   .past = within(centre + support + 0.5f, s->in_size[d]),
                   .inverse = 1.0f / support};

    span.centre = centre - (float)span.first - 0.5f;
    for (int32_t i = span.first; i < span.past; i++) {
        span.total += height(&span, i);
    }
    return span;
}

static float row32(const state_t *s, const char *row, const span_t *span) {
    float sum = 0.0f;

    for (int32_t i = span->first; i < span->past; i++) {
        float pixel;
        ember_elements_load(EMBER_CLASS_F32, &pixel, s->dtype,
                            row + (ptrdiff_t)i * s->from[3], 0, 1);
        sum += pixel * height(span, i);
    }
    return sum / span->total;
}

static double row64(const state_t *s, const char *row, const span_t *span) {
    double sum = 0.0;

    for (int32_t i = span->first; i < span->past; i++) {
        double pixel;
        ember_elements_load(EMBER_CLASS_F64, &pixel, s->dtype,
                            row + (ptrdiff_t)i * s->from[3], 0, 1);
        sum += pixel * (double)height(span, i);
    }
    return sum / (double)span->total;
}

static void pixel(const state_t *s, char *out, const char *plane, const span_t *rows,
                  const span_t *columns) {
    const ember_class_t class = ember_class_of(s->dtype);
    ember_number_t sum;

    memset(&sum, 0, sizeof(sum));
    for (int32_t i = rows->first; i < rows->past; i++) {
        const char *row = plane + (ptrdiff_t)i * s->from[2];
        const float weight = height(rows, i) / rows->total;
        if (class == EMBER_CLASS_F32) {
            sum.f32 += row32(s, row, columns) * weight;
        } else {
            sum.f64 += row64(s, row, columns) * (double)weight;
        }
    }
    ember_elements_store(class, &sum, s->dtype, out, 0, 1);
}

static void run_plane(const state_t *s, char *out, const char *plane) {
    for (int32_t i = 0; i < s->sizes[2]; i++) {
        const span_t rows = span_of(s, 0, i);
        for (int32_t j = 0; j < s->sizes[3]; j++) {
            const span_t columns = span_of(s, 1, j);
            pixel(s, out + (ptrdiff_t)i * s->to[2] + (ptrdiff_t)j * s->to[3], plane,
                  &rows, &columns);
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;

    for (int32_t n = 0; n < s->sizes[0]; n++) {
        for (int32_t c = 0; c < s->sizes[1]; c++) {
            run_plane(s, s->out + (ptrdiff_t)n * s->to[0] + (ptrdiff_t)c * s->to[1],
                      s->in + (ptrdiff_t)n * s->from[0] + (ptrdiff_t)c * s->from[1]);
        }
    }
    return EMBER_OK;
}

// Input pixels per output pixel; below 0 when they make no sense.
static float step_of(const state_t *s, ember_node_t *node, uint32_t d, bool align) {
    const float in = (float)s->in_size[d];
    const float out = (float)s->sizes[2 + d];
    float step = in / out;

    if (align) {
        step = out > 1.0f ? (in - 1.0f) / (out - 1.0f) : 0.0f;
    } else if (ember_node_kind(node, SCALE_H + d) != EMBER_NONE) {
        const double scale = ember_node_double(node, SCALE_H + d);
        step = scale > 0.0 ? (float)(1.0 / scale) : step;
    }
    return step <= 1e9f ? step : -1.0f;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    const bool align = ember_node_bool(node, ALIGN);
    int32_t size[2] = {0, 0};
    ember_tensor_t out;
    ember_view_t from, to;

    ember_view_arg(&from, node, INPUT);
    const uint32_t given = ember_node_ints(node, SIZE, size, 2);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (from.rank != 4 || given != 2 || size[0] < 1 || size[1] < 1 ||
        from.sizes[2] < 1 || from.sizes[3] < 1) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "upsample: sizes");
    }
    memcpy(s->in_size, from.sizes + 2, sizeof(s->in_size));
    memcpy(s->sizes, from.sizes, 2 * sizeof(size[0]));
    memcpy(s->sizes + 2, size, sizeof(size));
    ember_node_output(node, OUT, 4, s->sizes, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (out.dtype != from.dtype || ember_class_of(out.dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "upsample: dtypes");
    }
    for (uint32_t d = 0; d < 2; d++) {
        s->step[d] = step_of(s, node, d, align);
        if (s->step[d] < 0.0f) {
            return ember_node_fail(node, EMBER_BAD_PROGRAM, "upsample: scale");
        }
    }
    ember_view_tensor(&to, &out);
    s->in = from.data;
    s->out = out.data;
    s->dtype = out.dtype;
    memcpy(s->to, to.strides, sizeof(s->to));
    memcpy(s->from, from.strides, sizeof(s->from));
    return ember_node_status(node);
}

EMBER_KERNEL(upsample_bilinear2d_aa, state_t);
