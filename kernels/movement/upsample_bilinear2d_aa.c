// SPDX-License-Identifier: Apache-2.0
// upsample_bilinear2d_aa: each pixel is a weighted mean of those of the input within a
// triangle around it, which is as wide as two pixels of the coarser image. Any float
// dtype; weights are float32.
#include <string.h>

#include "kernels/engine/element.h"
#include "kernels/movement/upsample.h"

enum { ALIGN = 2 };

typedef struct {
    const char *in;
    char *out;
    ember_upsample_places_t at;
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
    span_t span = {.first = within(centre - support + 0.5f, s->at.in_size[d]),
                   .past = within(centre + support + 0.5f, s->at.in_size[d]),
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
                            row + (ptrdiff_t)i * s->at.from[3], 0, 1);
        sum += pixel * height(span, i);
    }
    return sum / span->total;
}

static double row64(const state_t *s, const char *row, const span_t *span) {
    double sum = 0.0;

    for (int32_t i = span->first; i < span->past; i++) {
        double pixel;
        ember_elements_load(EMBER_CLASS_F64, &pixel, s->dtype,
                            row + (ptrdiff_t)i * s->at.from[3], 0, 1);
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
        const char *row = plane + (ptrdiff_t)i * s->at.from[2];
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
    for (int32_t i = 0; i < s->at.sizes[2]; i++) {
        const span_t rows = span_of(s, 0, i);
        for (int32_t j = 0; j < s->at.sizes[3]; j++) {
            const span_t columns = span_of(s, 1, j);
            pixel(s, out + (ptrdiff_t)i * s->at.to[2] + (ptrdiff_t)j * s->at.to[3],
                  plane, &rows, &columns);
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;

    for (int32_t n = 0; n < s->at.sizes[0]; n++) {
        for (int32_t c = 0; c < s->at.sizes[1]; c++) {
            run_plane(
                s, s->out + (ptrdiff_t)n * s->at.to[0] + (ptrdiff_t)c * s->at.to[1],
                s->in + (ptrdiff_t)n * s->at.from[0] + (ptrdiff_t)c * s->at.from[1]);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_upsample_t up;
    const ember_status_t status = ember_upsample_aa_args(&up, node);

    if (status != EMBER_OK) {
        return status;
    }
    if (ember_class_of(up.in.dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "upsample: integers are not supported");
    }
    s->in = up.in.data;
    s->out = up.out.data;
    s->dtype = up.out.dtype;
    ember_upsample_places(&s->at, &up);
    uint32_t taps = 1;
    for (uint32_t d = 0; d < 2; d++) {
        s->step[d] =
            (float)ember_upsample_wide_step(&up, d, ember_node_bool(node, ALIGN));
        if (!(s->step[d] <= 1e9f)) {
            return ember_node_fail(node, EMBER_BAD_PROGRAM, "upsample: scale");
        }
        const float most = 2.0f * s->step[d] + 4.0f;
        taps *= (uint32_t)(most < (float)s->at.in_size[d] ? (int32_t)most
                                                          : s->at.in_size[d]);
    }
    ember_node_work(node, (uint32_t)ember_view_numel(&up.out), taps);
    ember_node_work(node, (uint32_t)ember_view_numel(&up.out), EMBER_STEPS_RESULT);
    return ember_node_status(node);
}

EMBER_KERNEL(upsample_bilinear2d_aa, state_t);
