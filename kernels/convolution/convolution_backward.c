// SPDX-License-Identifier: Apache-2.0
// convolution_backward: the gradients of input, weight and bias, those that are asked
// for. Any float dtype and layout; every tap of every output adds to each.
#include <string.h>

#include "kernels/convolution/conv.h"
#include "kernels/engine/axis.h"

enum { GRADIENT, X, W, BIAS_SIZES, LISTS, MASK = LISTS + 6, OUT_X, OUT_W, OUT_BIAS };

typedef struct {
    ember_conv_t conv; // y is the gradient
    ember_conv_operand_t x;
    ember_conv_operand_t w;
    char *bias;
    int32_t w_group;
    uint32_t x_bytes; // 0: not asked for, or empty
    uint32_t w_bytes;
    uint32_t bias_count;
    uint8_t size; // bytes of an element
} state_t;

static void add(const state_t *s, char *to, double number) {
    const uint32_t dtype = s->conv.dtype;
    ember_store_double(dtype, to, ember_load_double(dtype, to) + number);
}

static ptrdiff_t offset(const ember_conv_operand_t *operand,
                        const int32_t at[EMBER_CONV_DIMS]) {
    return (ptrdiff_t)at[0] * operand->space[0] + (ptrdiff_t)at[1] * operand->space[1] +
           (ptrdiff_t)at[2] * operand->space[2];
}

// Where one output's group and filter begin in x and w, and their gradients.
typedef struct {
    ptrdiff_t x, w, to_x, to_w;
} start_t;

// The products of one tap along the input channels of the group.
static void add_tap(const state_t *s, const start_t *start, double dy,
                    const int32_t at[EMBER_CONV_DIMS],
                    const int32_t tap[EMBER_CONV_DIMS]) {
    const ember_conv_t *conv = &s->conv;
    const ptrdiff_t x = start->x + offset(&conv->x, at);
    const ptrdiff_t w = start->w + offset(&conv->w, tap);
    const ptrdiff_t to_x = start->to_x + offset(&s->x, at);
    const ptrdiff_t to_w = start->to_w + offset(&s->w, tap);

    for (int32_t c = 0; c < conv->channels; c++) {
        if (s->x_bytes > 0) {
            const char *weight = conv->w.data + w + (ptrdiff_t)c * conv->w.inner;
            add(s, s->x.data + to_x + (ptrdiff_t)c * s->x.inner,
                dy * ember_load_double(conv->dtype, weight));
        }
        if (s->w_bytes > 0) {
            const char *input = conv->x.data + x + (ptrdiff_t)c * conv->x.inner;
            add(s, s->w.data + to_w + (ptrdiff_t)c * s->w.inner,
                dy * ember_load_double(conv->dtype, input));
        }
    }
}

// All taps of the output at `out`.
static void add_output(const state_t *s, const start_t *start, double dy,
                       const int32_t out[EMBER_CONV_DIMS]) {
    const ember_conv_t *conv = &s->conv;
    int32_t tap[EMBER_CONV_DIMS], at[EMBER_CONV_DIMS];

    for (tap[0] = 0; tap[0] < conv->kernel[0]; tap[0]++) {
        at[0] = ember_conv_source(conv, 0, out[0], tap[0]);
        for (tap[1] = 0; at[0] >= 0 && tap[1] < conv->kernel[1]; tap[1]++) {
            at[1] = ember_conv_source(conv, 1, out[1], tap[1]);
            for (tap[2] = 0; at[1] >= 0 && tap[2] < conv->kernel[2]; tap[2]++) {
                at[2] = ember_conv_source(conv, 2, out[2], tap[2]);
                if (at[2] >= 0) {
                    add_tap(s, start, dy, at, tap);
                }
            }
        }
    }
}

static double add_channel(const state_t *s, const start_t *start, const char *y) {
    const ember_conv_t *conv = &s->conv;
    const bool taps = s->x_bytes > 0 || s->w_bytes > 0;
    int32_t out[EMBER_CONV_DIMS];
    double sum = 0.0;

    for (out[0] = 0; out[0] < conv->out[0]; out[0]++) {
        for (out[1] = 0; out[1] < conv->out[1]; out[1]++) {
            for (out[2] = 0; out[2] < conv->out[2]; out[2]++) {
                const double dy =
                    ember_load_double(conv->dtype, y + offset(&conv->y, out));
                sum += dy;
                if (taps) {
                    add_output(s, start, dy, out);
                }
            }
        }
    }
    return sum;
}

static void clear(char *data, size_t bytes) {
    if (bytes > 0) {
        memset(data, 0, bytes);
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ember_conv_t *conv = &s->conv;

    clear(s->x.data, s->x_bytes);
    clear(s->w.data, s->w_bytes);
    clear(s->bias, (size_t)s->bias_count * s->size);
    for (int32_t n = 0; n < conv->batches; n++) {
        for (int32_t c = 0; c < conv->groups * conv->filters; c++) {
            const ptrdiff_t group = c / conv->filters;
            const ptrdiff_t filter = c % conv->filters;
            const ptrdiff_t channel = group * conv->channels;
            const start_t start = {n * (ptrdiff_t)conv->x.outer +
                                       channel * conv->x.inner,
                                   group * conv->w_group + filter * conv->w.outer,
                                   n * (ptrdiff_t)s->x.outer + channel * s->x.inner,
                                   group * s->w_group + filter * s->w.outer};
            const double sum = add_channel(s, &start,
                                           conv->y.data + n * (ptrdiff_t)conv->y.outer +
                                               c * (ptrdiff_t)conv->y.inner);
            if (s->bias_count > 0) {
                add(s, s->bias + (size_t)(uint32_t)c * s->size, sum);
            }
        }
    }
    return EMBER_OK;
}

// --- prepare -------------------------------------------------------------------------

// The gradient that is given must be as large as the convolution's output.
static bool fits(const ember_conv_t *conv, const ember_tensor_t *y) {
    const uint32_t dims = y->rank - 2u;

    return y->sizes[0] == conv->batches &&
           y->sizes[1] == (int64_t)conv->groups * conv->filters &&
           memcmp(y->sizes + 2, conv->out + EMBER_CONV_DIMS - dims,
                  dims * sizeof(y->sizes[0])) == 0;
}

// Bytes of an output that is asked for, shaped as `like`.
static uint32_t set_gradient(ember_node_t *node, uint32_t which,
                             const ember_tensor_t *like, ember_tensor_t *out) {
    memset(out, 0, sizeof(*out));
    if (!ember_node_list_bool(node, MASK, which)) {
        return 0;
    }
    ember_node_output_like(node, OUT_X + which, like, out);
    if (ember_node_status(node) == EMBER_OK && out->dtype != like->dtype) {
        (void)ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: dtypes differ");
    }
    return (uint32_t)ember_tensor_bytes(out);
}

static ember_status_t set_outputs(state_t *s, ember_node_t *node,
                                  const ember_tensor_t *x, const ember_tensor_t *w) {
    const int32_t channels = s->conv.groups * s->conv.filters;
    ember_tensor_t out;

    s->x_bytes = set_gradient(node, 0, x, &out);
    if (s->x_bytes > 0) {
        s->x = ember_conv_operand(&out);
    }
    s->w_bytes = set_gradient(node, 1, w, &out);
    if (s->w_bytes > 0) {
        s->w = ember_conv_weight(&s->conv, &out, &s->w_group);
    }
    s->bias_count = 0;
    if (ember_node_list_bool(node, MASK, 2)) {
        ember_node_output(node, OUT_BIAS, 1, &channels, &out);
        s->bias = out.data;
        s->bias_count = out.numel;
        if (ember_node_status(node) == EMBER_OK && out.dtype != x->dtype) {
            return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: bias");
        }
    }
    return ember_node_status(node);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t y, x, w;

    ember_node_tensor(node, GRADIENT, &y);
    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, W, &w);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    memset(s, 0, sizeof(*s));
    const ember_status_t status = ember_conv_geometry(&s->conv, node, LISTS, &x, &w);
    if (status != EMBER_OK) {
        return status;
    }
    if (y.rank != x.rank || !fits(&s->conv, &y)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "convolution: gradient");
    }
    if (y.dtype != x.dtype || ember_class_of(x.dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: dtypes differ");
    }
    s->conv.y = ember_conv_operand(&y);
    s->conv.batches = y.numel > 0 ? s->conv.batches : 0;
    s->size = x.element_size;
    return set_outputs(s, node, &x, &w);
}

EMBER_KERNEL(convolution_backward, state_t);
