// SPDX-License-Identifier: Apache-2.0
// Bilinear upsampling. Contract: bilinear.h.
#include "kernels/movement/bilinear.h"

#include "kernels/engine/element.h"

// The two input positions around an output position, and the weight of the second.
typedef struct {
    int32_t low;
    int32_t high;
    float weight;
} span_t;

static span_t span_of(const ember_bilinear_t *s, uint32_t d, int32_t at) {
    const int32_t last = s->at.in_size[d] - 1;
    float real = (float)at * s->step[d];

    if (s->at.sizes[2 + d] == s->at.in_size[d]) {
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

// A pixel: where its first channel is, and that of the four that it is mixed of, from
// the top left one on.
typedef struct {
    char *out;
    const char *in[4];
    float down; // weights of the lower and of the right ones
    float right;
} pixel_t;

static const float *floats(const char *at) {
    return (const float *)(const void *)at;
}

static void mix_f32(const ember_bilinear_t *s, const pixel_t *p) {
    const float *restrict a = floats(p->in[0]);
    const float *restrict b = floats(p->in[1]);
    const float *restrict c = floats(p->in[2]);
    const float *restrict d = floats(p->in[3]);
    float *restrict out = (float *)(void *)p->out;
    const int32_t from = s->at.from[1] / (int32_t)sizeof(float);
    const int32_t to = s->at.to[1] / (int32_t)sizeof(float);
    const float up = 1.0f - p->down;
    const float left = 1.0f - p->right;
    ptrdiff_t at = 0;

    for (int32_t n = s->at.sizes[1]; n > 0; n--) {
        const float top = left * a[at] + p->right * b[at];
        const float bottom = left * c[at] + p->right * d[at];
        *out = up * top + p->down * bottom;
        out += to;
        at += from;
    }
}

static ember_number_t mixed(ember_class_t class, const ember_number_t *in,
                            const pixel_t *p) {
    const double down = (double)p->down;
    const double right = (double)p->right;
    ember_number_t number;

    if (class == EMBER_CLASS_F32) {
        const float left = 1.0f - p->right;
        const float top = left * in[0].f32 + p->right * in[1].f32;
        const float bottom = left * in[2].f32 + p->right * in[3].f32;
        number.f32 = (1.0f - p->down) * top + p->down * bottom;
    } else {
        const double top = (1.0 - right) * in[0].f64 + right * in[1].f64;
        const double bottom = (1.0 - right) * in[2].f64 + right * in[3].f64;
        number.f64 = (1.0 - down) * top + down * bottom;
    }
    return number;
}

static void mix_any(const ember_bilinear_t *s, const pixel_t *p) {
    const ember_class_t class = ember_class_of(s->dtype);
    ember_number_t in[4];

    for (int32_t c = 0; c < s->at.sizes[1]; c++) {
        for (uint32_t n = 0; n < 4; n++) {
            ember_elements_load(class, &in[n], s->dtype,
                                p->in[n] + (ptrdiff_t)c * s->at.from[1], 0, 1);
        }
        const ember_number_t number = mixed(class, in, p);
        ember_elements_store(class, &number, s->dtype,
                             p->out + (ptrdiff_t)c * s->at.to[1], 0, 1);
    }
}

static int32_t clamped(int32_t value, int32_t most) {
    return value < 0 ? 0 : value > most ? most : value;
}

// The span of a row of the output, in the rows of the input that are in memory.
static span_t rows_of(const ember_bilinear_t *s, const ember_bilinear_rows_t *rows,
                      int32_t i) {
    span_t h = span_of(s, 0, rows->first + i);

    h.low = clamped(h.low - rows->above, rows->last);
    h.high = clamped(h.high - rows->above, rows->last);
    return h;
}

static void run_row(const ember_bilinear_t *s, char *out, const char *image, span_t h) {
    const char *top = image + (ptrdiff_t)h.low * s->at.from[2];
    const char *bottom = image + (ptrdiff_t)h.high * s->at.from[2];

    for (int32_t j = 0; j < s->at.sizes[3]; j++) {
        const span_t w = span_of(s, 1, j);
        const ptrdiff_t left = (ptrdiff_t)w.low * s->at.from[3];
        const ptrdiff_t right = (ptrdiff_t)w.high * s->at.from[3];
        const pixel_t pixel = {out,
                               {top + left, top + right, bottom + left, bottom + right},
                               h.weight,
                               w.weight};
        if (s->dtype == EMBER_F32) {
            mix_f32(s, &pixel);
        } else {
            mix_any(s, &pixel);
        }
        out += s->at.to[3];
    }
}

void ember_bilinear_run(const ember_bilinear_t *s, const ember_bilinear_rows_t *rows) {
    for (int32_t n = 0; n < s->at.sizes[0]; n++) {
        char *out = s->out + (ptrdiff_t)n * s->at.to[0];
        const char *image = s->in + (ptrdiff_t)n * s->at.from[0];
        for (int32_t i = 0; i < rows->count; i++) {
            run_row(s, out + (ptrdiff_t)i * s->at.to[2], image, rows_of(s, rows, i));
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

ember_status_t ember_bilinear_prepare(ember_bilinear_t *s, ember_node_t *node,
                                      const ember_upsample_t *up, bool align) {
    if (ember_class_of(up->in.dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "upsample: integers are not supported");
    }
    s->out = up->out.data;
    s->in = up->in.data;
    s->dtype = up->in.dtype;
    s->align = align;
    ember_upsample_places(&s->at, up);
    for (uint32_t d = 0; d < 2; d++) {
        s->step[d] = step_of(up, d, align);
    }
    return ember_node_status(node);
}
