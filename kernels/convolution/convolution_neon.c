// SPDX-License-Identifier: Apache-2.0
// convolution_neon: float32 or float16 in any layout and of one to three dimensions,
// also transposed and grouped, with NEON. Sums are float32, rounded when they are
// stored; tolerance: gemm_f32.h. Infinite weights on padding give NaN.
//
// Images have their channels innermost, or are copied to scratch like this. The
// channels under the taps of a tile of outputs are the rows of a product with the
// filters; with one channel in a group sums run along the groups instead. A transposed
// convolution is computed phase by phase: a phase consists of the outputs that the same
// taps reach.
#include "kernels/convolution/conv.h"
#include "kernels/convolution/lines_neon.h"
#include "kernels/convolution/phases_neon.h"
#include "kernels/engine/gemm_f32.h"
#include "kernels/engine/neon/widen_neon.h"

enum {
    LANES = 4,
    TILE = 64,      // outputs at most
    TAPS = 18432,   // elements of scratch that a tile should take
    ACROSS = 64,    // most taps of sums along the groups
    MOST = 1 << 24, // elements of the weights, and of an image
};

typedef struct convolution_neon {
    ember_conv_t conv;
    float *image;   // (in, groups * channels) of a batch; NULL: x is
    float *weights; // of a phase
    float *taps;    // (tile, taps of a phase * channels)
    float *results; // (tile, groups * filters)
    int32_t tile;   // outputs
    bool half;
    bool across; // sums run along the groups
    bool direct; // y has the layout of results
} convolution_neon_t;

// --- scratch --------------------------------------------------------------------

// The image of a batch with its channels innermost.
static const float *image_of(const convolution_neon_t *s, const char *x) {
    const ember_conv_t *conv = &s->conv;
    const int32_t channels = conv->groups * conv->channels;
    float *to = s->image;

    if (to == NULL) {
        return (const void *)x;
    }
    for (int32_t d = 0; d < conv->in[0]; d++) {
        for (int32_t h = 0; h < conv->in[1]; h++) {
            const char *row =
                x + (ptrdiff_t)d * conv->x.space[0] + (ptrdiff_t)h * conv->x.space[1];
            for (int32_t w = 0; w < conv->in[2]; w++) {
                ember_neon_widen(to, row + (ptrdiff_t)w * conv->x.space[2],
                                 conv->x.inner, channels, s->half);
                to += channels;
            }
        }
    }
    return s->image;
}

static const char *weight_at(const ember_conv_t *conv, position_t tap) {
    return conv->w.data + (ptrdiff_t)tap.at[0] * conv->w.space[0] +
           (ptrdiff_t)tap.at[1] * conv->w.space[1] +
           (ptrdiff_t)tap.at[2] * conv->w.space[2];
}

// Weights of a phase: (groups, filters, taps, channels), or (taps, groups) across.
static void take_weights(const convolution_neon_t *s, const phase_t *phase) {
    const ember_conv_t *conv = &s->conv;
    position_t tap = before_taps;
    float *to = s->weights;

    while (next_tap(conv, phase, &tap)) {
        const char *from = weight_at(conv, tap);
        if (s->across) {
            ember_neon_widen(to, from, conv->w_group, conv->groups, s->half);
            to += conv->groups;
            continue;
        }
        float *line = to;
        for (int32_t g = 0; g < conv->groups; g++) {
            const char *filter = from + (ptrdiff_t)g * conv->w_group;
            for (int32_t f = 0; f < conv->filters; f++) {
                ember_neon_widen(line, filter + (ptrdiff_t)f * conv->w.outer,
                                 conv->w.inner, conv->channels, s->half);
                line += (ptrdiff_t)phase->taps * conv->channels;
            }
        }
        to += conv->channels;
    }
}

// --- a tile of outputs ----------------------------------------------------------

typedef struct {
    float *to;
    int32_t channels;
} gathered_t;

EMBER_NEON_INLINE void take_copy(void *context, const float *channels) {
    gathered_t *gathered = context;

    if (channels == NULL) {
        ember_line_zeros(gathered->to, gathered->channels);
    } else {
        ember_line_dense(gathered->to, channels, gathered->channels);
    }
    gathered->to += gathered->channels;
}

EMBER_NEON_INLINE void take_pointer(void *context, const float *channels) {
    const float ***next = context;
    *(*next)++ = channels;
}

// What is under all taps of an output, for one group.
static void gather(const ember_conv_t *conv, const phase_t *phase, const float *image,
                   position_t output, float *to) {
    gathered_t gathered = {to, conv->channels};
    each_tap(conv, phase, image, output, take_copy, &gathered);
}

// The same if a row of taps is a row of the image.
static void gather_rows(const ember_conv_t *conv, const float *image, position_t output,
                        float *to) {
    const int32_t channels = conv->channels;
    const int32_t taps = conv->kernel[2];
    const int32_t first = output.at[2] * conv->stride[2] - conv->padding[2];
    const int32_t low = first >= 0 ? 0 : first < -taps ? taps : -first;
    const int32_t room = conv->in[2] - first;
    const int32_t high = room > taps ? taps : room < low ? low : room;

    for (int32_t i = 0; i < conv->kernel[0]; i++) {
        const int32_t d = ember_conv_source(conv, 0, output.at[0], i);
        for (int32_t j = 0; j < conv->kernel[1]; j++) {
            const int32_t h = ember_conv_source(conv, 1, output.at[1], j);
            const ptrdiff_t row = ((ptrdiff_t)d * conv->in[1] + h) * conv->in[2];
            if (d < 0 || h < 0 || low == high) {
                ember_line_zeros(to, taps * channels);
            } else {
                ember_line_zeros(to, low * channels);
                ember_line_dense(to + (ptrdiff_t)low * channels,
                                 image + (row + first + low) * channels,
                                 (high - low) * channels);
                ember_line_zeros(to + (ptrdiff_t)high * channels,
                                 (taps - high) * channels);
            }
            to += (ptrdiff_t)taps * channels;
        }
    }
}

// Whether the image itself has the rows of the product.
static bool is_pointwise(const ember_conv_t *conv) {
    bool pointwise = !conv->transposed;

    for (uint32_t d = 0; d < DIMS; d++) {
        pointwise = pointwise && conv->kernel[d] == 1 && conv->stride[d] == 1 &&
                    conv->padding[d] == 0;
    }
    return pointwise;
}

// A tile of one group: outputs [first, first + rows) of a phase.
static void multiply(const convolution_neon_t *s, const phase_t *phase,
                     const float *image, int32_t group, int32_t first, int32_t rows,
                     float *to) {
    const ember_conv_t *conv = &s->conv;
    const int32_t channels = conv->channels;
    const int32_t inner = phase->taps * channels;
    const ptrdiff_t filter = (ptrdiff_t)group * conv->filters;
    const float *x = image + (ptrdiff_t)group * channels;
    const bool rows_of_image =
        !conv->transposed && conv->dilation[2] == 1 && conv->groups == 1;
    ember_gemm_f32_t gemm = {
        .a = s->taps,
        .b = s->weights + filter * inner,
        .c = to + filter,
        .rows = rows,
        .inner = inner,
        .columns = conv->filters,
        .a_stride = inner,
        .b_stride = inner,
        .c_stride = conv->groups * conv->filters,
        .alpha = 1.0f,
    };

    if (is_pointwise(conv)) {
        gemm.a_stride = conv->groups * channels;
        gemm.a = x + (ptrdiff_t)first * gemm.a_stride;
    } else {
        for (int32_t row = 0; row < rows; row++) {
            const position_t output = position_of(phase, first + row);
            float *line = s->taps + (ptrdiff_t)row * inner;
            if (rows_of_image) {
                gather_rows(conv, x, output, line);
            } else {
                gather(conv, phase, x, output, line);
            }
        }
    }
    ember_gemm_f32_columns_neon(&gemm);
}

// Sums of `4 * vectors` groups over the taps of an output; `vectors` is a constant.
EMBER_NEON_INLINE void sum_across(const float *const *x, const float *w, int32_t step,
                                  int32_t taps, int32_t at, float *to, int vectors) {
    float32x4_t sums[4];

    for (int v = 0; v < vectors; v++) {
        sums[v] = vdupq_n_f32(0.0f);
    }
    w += at;
    for (int32_t k = 0; k < taps; k++) {
        const float *from = x[k] == NULL ? NULL : x[k] + at;
        for (int v = 0; from != NULL && v < vectors; v++) {
            sums[v] = vfmaq_f32(sums[v], vld1q_f32(from + v * LANES),
                                vld1q_f32(w + v * LANES));
        }
        w += step;
    }
    for (int v = 0; v < vectors; v++) {
        vst1q_f32(to + at + v * LANES, sums[v]);
    }
}

static void multiply_across(const convolution_neon_t *s, const phase_t *phase,
                            const float *image, int32_t first, int32_t rows,
                            float *to) {
    const ember_conv_t *conv = &s->conv;
    const int32_t groups = conv->groups;
    const float *x[ACROSS];

    for (int32_t row = 0; row < rows; row++) {
        const position_t output = position_of(phase, first + row);
        const float **next = x;
        int32_t at = 0;
        each_tap(conv, phase, image, output, take_pointer, &next);
        for (; at + 4 * LANES <= groups; at += 4 * LANES) {
            sum_across(x, s->weights, groups, phase->taps, at, to, 4);
        }
        for (; at < groups; at += LANES) { // the last four may overlap those before
            const int32_t last = groups - LANES;
            sum_across(x, s->weights, groups, phase->taps, at < last ? at : last, to,
                       1);
        }
        to += groups;
    }
}

// Adds the bias to the results of a tile.
static void add_bias(const convolution_neon_t *s, float *to, int32_t rows) {
    const ember_conv_t *conv = &s->conv;
    const int32_t channels = conv->groups * conv->filters;
    float some[TILE];

    for (int32_t at = 0; conv->bias != NULL && at < channels; at += TILE) {
        const int32_t count = channels - at < TILE ? channels - at : TILE;
        const int32_t size = s->half ? 2 : 4;
        ember_neon_widen(some, conv->bias + (ptrdiff_t)at * size, size, count, s->half);
        for (int32_t row = 0; row < rows; row++) {
            float *line = to + (ptrdiff_t)row * channels + at;
            for (int32_t c = 0; c < count; c++) {
                line[c] += some[c];
            }
        }
    }
}

static void put(const convolution_neon_t *s, const phase_t *phase, char *y,
                int32_t first, int32_t rows) {
    const ember_conv_t *conv = &s->conv;
    const int32_t channels = conv->groups * conv->filters;

    for (int32_t row = 0; row < rows; row++) {
        const position_t output = position_of(phase, first + row);
        char *to = y;
        for (uint32_t d = 0; d < DIMS; d++) {
            to += (ptrdiff_t)output.at[d] * conv->y.space[d];
        }
        ember_neon_narrow(to, conv->y.inner, s->results + (ptrdiff_t)row * channels,
                          channels, s->half);
    }
}

// --- run ------------------------------------------------------------------------

static void run_phase(const convolution_neon_t *s, const phase_t *phase,
                      const float *image, char *y) {
    const ember_conv_t *conv = &s->conv;
    const int32_t channels = conv->groups * conv->filters;
    const int32_t all = phase->count[0] * phase->count[1] * phase->count[2];

    for (int32_t first = 0; first < all; first += s->tile) {
        const int32_t rows = all - first < s->tile ? all - first : s->tile;
        float *to =
            s->direct ? (float *)(void *)y + (ptrdiff_t)first * channels : s->results;
        if (s->across) {
            multiply_across(s, phase, image, first, rows, to);
        }
        for (int32_t g = 0; g < conv->groups && !s->across; g++) {
            multiply(s, phase, image, g, first, rows, to);
        }
        add_bias(s, to, rows);
        if (!s->direct) {
            put(s, phase, y, first, rows);
        }
    }
}

static void run_batch(const convolution_neon_t *s, int32_t n) {
    const ember_conv_t *conv = &s->conv;
    const float *image = image_of(s, conv->x.data + (ptrdiff_t)n * conv->x.outer);

    for (int32_t d0 = 0; d0 < phases_along(conv, 0); d0++) {
        for (int32_t d1 = 0; d1 < phases_along(conv, 1); d1++) {
            for (int32_t d2 = 0; d2 < phases_along(conv, 2); d2++) {
                const phase_t phase = phase_at(conv, d0, d1, d2);
                take_weights(s, &phase);
                run_phase(s, &phase, image,
                          conv->y.data + (ptrdiff_t)n * conv->y.outer);
            }
        }
    }
}

static int32_t run(void *state) {
    const convolution_neon_t *s = state;

    for (int32_t n = 0; n < s->conv.batches; n++) {
        run_batch(s, n);
    }
    return EMBER_OK;
}

// --- prepare --------------------------------------------------------------------

// The product of three lengths and a number, saturated to a large number.
static int64_t volume(const int32_t lengths[DIMS], int64_t number) {
    for (uint32_t d = 0; d < DIMS; d++) {
        number = number > INT32_MAX ? number : number * lengths[d];
    }
    return number;
}

// How the convolution is computed, from its arguments.
static void choose(convolution_neon_t *s) {
    const ember_conv_t *conv = &s->conv;
    const int64_t taps = volume(conv->kernel, 1);
    const int64_t fit = TAPS / (taps * conv->channels) & ~3;

    s->half = conv->dtype == EMBER_F16;
    s->direct = !s->half && !conv->transposed && conv->channels_last;
    s->across = conv->channels == 1 && conv->filters == 1 && conv->groups >= LANES &&
                taps <= ACROSS;
    s->tile = fit < LANES ? LANES : fit > TILE ? TILE : (int32_t)fit;
}

// Lays out scratch from `start` on; returns its elements.
static size_t lay_out(convolution_neon_t *s, float *start) {
    const ember_conv_t *conv = &s->conv;
    const size_t channels = (size_t)conv->groups * (size_t)conv->channels;
    const size_t outputs = (size_t)conv->groups * (size_t)conv->filters;
    const size_t inner = (size_t)volume(conv->kernel, conv->channels);
    const size_t tile = (size_t)s->tile;
    const size_t image = s->direct ? 0 : (size_t)volume(conv->in, (int64_t)channels);
    const size_t taps = s->across || is_pointwise(conv) ? 0 : inner * tile;
    const size_t sizes[] = {outputs * inner, image, taps,
                            s->direct ? 0 : outputs * tile};
    float **const parts[] = {&s->weights, &s->image, &s->taps, &s->results};
    size_t all = 0;

    for (uint32_t i = 0; i < 4; i++) {
        *parts[i] = start == NULL || sizes[i] == 0 ? NULL : start + all;
        all += sizes[i];
    }
    return all;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    convolution_neon_t *s = state;
    const ember_conv_t *conv = &s->conv;
    const ember_status_t status = ember_conv_args(&s->conv, node);

    if (status != EMBER_OK) {
        return status;
    }
    const int64_t channels = (int64_t)conv->groups * conv->channels;
    const int64_t outputs = (int64_t)conv->groups * conv->filters;
    const int64_t weights = volume(conv->kernel, outputs * conv->channels);
    if ((conv->dtype != EMBER_F32 && conv->dtype != EMBER_F16) || weights == 0) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: dtype");
    }
    if (weights > MOST || volume(conv->in, channels) > MOST || outputs > MOST / TILE) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: scratch");
    }
    choose(s);
    lay_out(s, ember_node_scratch(node, lay_out(s, NULL) * sizeof(float)));
    return ember_node_status(node);
}

EMBER_KERNEL(convolution_neon, convolution_neon_t);
