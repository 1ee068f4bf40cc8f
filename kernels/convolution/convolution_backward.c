// SPDX-License-Identifier: Apache-2.0
// convolution_backward: the gradients of input, weight and bias, as far as they are
// asked for. Any float dtype and layout; every tap of every output adds to each.
// Gradients of float16 and bfloat16 are summed as float32, in scratch.
#include <string.h>

#include "kernels/convolution/conv.h"
#include "kernels/engine/axis.h"

enum { GRADIENT, X, W, BIAS_SIZES, LISTS, MASK = LISTS + 6, OUT_X, OUT_W, OUT_BIAS };

typedef struct {
    ember_conv_t conv; // y is the gradient
    ember_conv_operand_t x;
    ember_conv_operand_t w;
    int32_t w_group;
    char *out[3];      // gradients of x, w and the bias
    char *sums[3];     // where they are summed: in place, or in scratch
    uint32_t count[3]; // elements; 0: not asked for, or empty
    uint8_t dtype;     // of the sums
} state_t;

static void add(const state_t *s, char *to, double number) {
    ember_store_double(s->dtype, to, ember_load_double(s->dtype, to) + number);
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
        if (s->count[0] > 0) {
            const char *weight = conv->w.data + w + (ptrdiff_t)c * conv->w.inner;
            add(s, s->x.data + to_x + (ptrdiff_t)c * s->x.inner,
                dy * ember_load_double(conv->dtype, weight));
        }
        if (s->count[1] > 0) {
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
    const bool taps = s->count[0] > 0 || s->count[1] > 0;
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

static void clear(const state_t *s) {
    for (uint32_t k = 0; k < 3; k++) {
        if (s->count[k] > 0) {
            memset(s->sums[k], 0, (size_t)s->count[k] * ember_dtype_size(s->dtype));
        }
    }
}

// Sums in scratch become the outputs, which have the same layout.
static void finish(const state_t *s) {
    const int32_t step = (int32_t)ember_dtype_size(s->conv.dtype);
    for (uint32_t k = 0; k < 3; k++) {
        if (s->sums[k] != s->out[k]) {
            ember_elements_store(EMBER_CLASS_F32, s->sums[k], s->conv.dtype, s->out[k],
                                 step, s->count[k]);
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ember_conv_t *conv = &s->conv;

    clear(s);
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
            if (s->count[2] > 0) {
                const size_t size = ember_dtype_size(s->dtype);
                add(s, s->sums[2] + (size_t)(uint32_t)c * size, sum);
            }
        }
    }
    finish(s);
    return EMBER_OK;
}

// --- prepare -------------------------------------------------------------------------

// The given gradient must be as large as the convolution's output.
static bool fits(const ember_conv_t *conv, const ember_tensor_t *y) {
    const uint32_t dims = y->rank - 2u;

    return y->sizes[0] == conv->batches &&
           y->sizes[1] == (int64_t)conv->groups * conv->filters &&
           memcmp(y->sizes + 2, conv->out + EMBER_CONV_DIMS - dims,
                  dims * sizeof(y->sizes[0])) == 0;
}

// An output of shape (rank, sizes) that is asked for; empty if it is not.
static void set_gradient(state_t *s, ember_node_t *node, uint32_t which, uint32_t rank,
                         const int32_t *sizes, ember_tensor_t *out) {
    memset(out, 0, sizeof(*out));
    if (ember_node_list_bool(node, MASK, which)) {
        ember_node_output(node, OUT_X + which, rank, sizes, out);
        if (ember_node_status(node) == EMBER_OK && out->dtype != s->conv.dtype) {
            (void)ember_node_fail(node, EMBER_UNSUPPORTED,
                                  "convolution: dtypes differ");
        }
    }
    s->out[which] = out->data;
    s->sums[which] = out->data;
    s->count[which] = out->numel;
}

// Puts the sums into scratch, as float32.
static void sum_apart(state_t *s, ember_node_t *node, ember_tensor_t *outs) {
    const size_t count = (size_t)s->count[0] + s->count[1] + s->count[2];
    char *at = ember_node_scratch(node, count * sizeof(float));

    s->dtype = EMBER_F32;
    for (uint32_t k = 0; k < 3 && at != NULL; k++) {
        s->sums[k] = s->count[k] > 0 ? at : s->out[k];
        at += (size_t)s->count[k] * sizeof(float);
        outs[k].data = s->sums[k];
        outs[k].dtype = EMBER_F32;
        outs[k].element_size = sizeof(float);
    }
}

static ember_status_t set_outputs(state_t *s, ember_node_t *node,
                                  const ember_tensor_t *x, const ember_tensor_t *w) {
    const int32_t channels = s->conv.groups * s->conv.filters;
    ember_tensor_t outs[3];

    set_gradient(s, node, 0, x->rank, x->sizes, &outs[0]);
    set_gradient(s, node, 1, w->rank, w->sizes, &outs[1]);
    set_gradient(s, node, 2, 1, &channels, &outs[2]);
    s->dtype = s->conv.dtype;
    if (ember_node_status(node) == EMBER_OK && x->element_size == 2) {
        sum_apart(s, node, outs);
    }
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (s->count[0] > 0) {
        s->x = ember_conv_operand(&outs[0]);
    }
    if (s->count[1] > 0) {
        s->w = ember_conv_weight(&s->conv, &outs[1], &s->w_group);
    }
    return EMBER_OK;
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
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "convolution: wrong shape of gradient");
    }
    if (y.dtype != x.dtype || ember_class_of(x.dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: dtypes differ");
    }
    // A tap adds to two gradients.
    for (uint32_t i = 0; i < EMBER_STEPS_ANY; i++) { // 64 bits hold no product
        ember_conv_work(&s->conv, node, y.numel);
    }
    s->conv.y = ember_conv_operand(&y);
    s->conv.batches = y.numel > 0 ? s->conv.batches : 0;
    return set_outputs(s, node, &x, &w);
}

EMBER_KERNEL(convolution_backward, state_t);
