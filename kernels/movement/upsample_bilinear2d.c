// SPDX-License-Identifier: Apache-2.0
// upsample_bilinear2d: each pixel is a mean of four of the input's, by distance.
#include <string.h>

#include "kernels/engine/element.h"
#include "kernels/movement/upsample.h"

enum { INPUT, SIZE, ALIGN, FACTORS, OUT };

typedef struct {
    char *out;
    const char *in;
    int32_t sizes[4];   // of the output
    int32_t in_size[2]; // height and width
    int32_t to[4];      // strides, bytes
    int32_t from[4];
    float step[2]; // input pixels per output pixel
    uint8_t dtype;
    bool align;
} state_t;

// The two input positions around an output position, and the weight of the second.
typedef struct {
    int32_t low;
    int32_t high;
    float weight;
} span_t;

static span_t span_of(const state_t *s, uint32_t d, int32_t at) {
    const int32_t last = s->in_size[d] - 1;
    float real = (float)at * s->step[d];

    if (s->sizes[2 + d] == s->in_size[d]) {
        return (span_t){at, at, 0.0f};
    }
    if (!s->align) {
        real = ((float)at + 0.5f) * s->step[d] - 0.5f;
        real = real < 0.0f ? 0.0f : real;
    }
    // Factors may have any scale: clamp before converting to int.
    const int32_t low = real < (float)last ? (int32_t)real : last;
    const float weight = real - (float)low;
    return (span_t){low, low < last ? low + 1 : low, weight > 1.0f ? 1.0f : weight};
}

static ember_number_t load(const state_t *s, const char *plane, int32_t h, int32_t w) {
    const char *from = plane + (ptrdiff_t)h * s->from[2] + (ptrdiff_t)w * s->from[3];
    ember_number_t number;

    if (s->dtype == EMBER_F32) {
        number.f32 = *(const float *)(const void *)from;
    } else {
        ember_elements_load(ember_class_of(s->dtype), &number, s->dtype, from, 0, 1);
    }
    return number;
}

static void store(const state_t *s, char *to, const ember_number_t *number) {
    if (s->dtype == EMBER_F32) {
        *(float *)(void *)to = number->f32;
    } else {
        ember_elements_store(ember_class_of(s->dtype), number, s->dtype, to, 0, 1);
    }
}

static float mix32(const state_t *s, const char *plane, span_t h, span_t w) {
    const float h0 = 1.0f - h.weight;
    const float w0 = 1.0f - w.weight;
    const float top = w0 * load(s, plane, h.low, w.low).f32 +
                      w.weight * load(s, plane, h.low, w.high).f32;
    const float bottom = w0 * load(s, plane, h.high, w.low).f32 +
                         w.weight * load(s, plane, h.high, w.high).f32;

    return h0 * top + h.weight * bottom;
}

static double mix64(const state_t *s, const char *plane, span_t h, span_t w) {
    const double h1 = (double)h.weight;
    const double w1 = (double)w.weight;
    const double top = (1.0 - w1) * load(s, plane, h.low, w.low).f64 +
                       w1 * load(s, plane, h.low, w.high).f64;
    const double bottom = (1.0 - w1) * load(s, plane, h.high, w.low).f64 +
                          w1 * load(s, plane, h.high, w.high).f64;

    return (1.0 - h1) * top + h1 * bottom;
}

static void run_plane(const state_t *s, char *out, const char *plane) {
    const ember_class_t class = ember_class_of(s->dtype);
    ember_number_t number;

    for (int32_t i = 0; i < s->sizes[2]; i++) {
        const span_t h = span_of(s, 0, i);
        for (int32_t j = 0; j < s->sizes[3]; j++) {
            const span_t w = span_of(s, 1, j);
            if (class == EMBER_CLASS_F32) {
                number.f32 = mix32(s, plane, h, w);
            } else {
                number.f64 = mix64(s, plane, h, w);
            }
            store(s, out + (ptrdiff_t)i * s->to[2] + (ptrdiff_t)j * s->to[3], &number);
        }
    }
}

// With aligned corners the ends of input and output coincide.
static float step_of(const ember_upsample_t *up, uint32_t d, bool align) {
    const int32_t in = up->in.sizes[2 + d];
    const int32_t out = up->out.sizes[2 + d];

    if (align) {
        return out > 1 ? (float)(in - 1) / (float)(out - 1) : 0.0f;
    }
    return ember_upsample_step(up, d);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_upsample_t up;
    const ember_status_t status = ember_upsample_args(&up, node, FACTORS, OUT);

    if (status != EMBER_OK) {
        return status;
    }
    if (ember_class_of(up.in.dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "upsample: integers are not supported");
    }
    ember_node_work(node, (uint32_t)ember_view_numel(&up.out),
                    4 * EMBER_STEPS_ANY); // corners
    s->out = up.out.data;
    s->in = up.in.data;
    s->dtype = up.in.dtype;
    s->align = ember_node_bool(node, ALIGN);
    memcpy(s->sizes, up.out.sizes, sizeof(s->sizes));
    memcpy(s->in_size, up.in.sizes + 2, sizeof(s->in_size));
    memcpy(s->to, up.out.strides, sizeof(s->to));
    memcpy(s->from, up.in.strides, sizeof(s->from));
    for (uint32_t d = 0; d < 2; d++) {
        s->step[d] = step_of(&up, d, s->align);
    }
    return ember_node_status(node);
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

EMBER_KERNEL(upsample_bilinear2d, state_t);
