// SPDX-License-Identifier: Apache-2.0
// cadence::transposed_convolution: float32; sums start with the bias and follow the
// order of the weights, which are (filters of a group, channels of all groups).
#include "kernels/cadence/window.h"

enum { X, W, BIAS, STRIDE, PADDING, DILATION, OUT_PADDING, GROUPS, LAST, Y };

typedef struct transposed {
    ember_cadence_window_t window;
    const float *x;
    const float *w;
    const float *bias; // (filters,)
    float *y;
    int32_t groups;
    int32_t filters;            // of all groups
    ember_cadence_image_t from; // steps of the weights; batch: of a filter
} transposed_t;

// Adds the products of one tap of the channels from `first` on.
static float add_tap(const transposed_t *s, float sum, const float *x, const float *w,
                     int32_t count) {
    for (int32_t c = 0; c < count; c++) {
        sum += x[c * s->window.x.channel] * w[c * s->from.channel];
    }
    return sum;
}

static float add_taps(const transposed_t *s, float sum, const float *x, const float *w,
                      int32_t oy, int32_t ox, int32_t count) {
    const ember_cadence_window_t *window = &s->window;

    for (int32_t ky = 0; ky < window->height.kernel; ky++) {
        const int32_t row = ember_cadence_tap(&window->height, true, oy, ky);
        for (int32_t kx = 0; row >= 0 && kx < window->width.kernel; kx++) {
            const int32_t column = ember_cadence_tap(&window->width, true, ox, kx);
            if (column >= 0) {
                sum =
                    add_tap(s, sum, x + row * window->x.row + column * window->x.column,
                            w + ky * s->from.row + kx * s->from.column, count);
            }
        }
    }
    return sum;
}

static float output(const transposed_t *s, int32_t n, int32_t f, int32_t oy,
                    int32_t ox) {
    const int32_t each = s->window.channels / s->groups;
    const int32_t filters = s->filters / s->groups;
    const int32_t first = f / filters * each;
    const float *x = s->x + n * s->window.x.batch + first * s->window.x.channel;
    const float *w = s->w + f % filters * s->from.batch + first * s->from.channel;
    float sum = s->bias[f];

    if (s->window.last) {
        return add_taps(s, sum, x, w, oy, ox, each);
    }
    for (int32_t c = 0; c < each; c++) {
        sum = add_taps(s, sum, x + c * s->window.x.channel, w + c * s->from.channel, oy,
                       ox, 1);
    }
    return sum;
}

static int32_t run(void *state) {
    const transposed_t *s = state;
    const ember_cadence_image_t *steps = &s->window.y;

    for (int32_t n = 0; n < s->window.batches; n++) {
        for (int32_t f = 0; f < s->filters; f++) {
            for (int32_t oy = 0; oy < s->window.height.out; oy++) {
                for (int32_t ox = 0; ox < s->window.width.out; ox++) {
                    s->y[n * steps->batch + f * steps->channel + oy * steps->row +
                         ox * steps->column] = output(s, n, f, oy, ox);
                }
            }
        }
    }
    return EMBER_OK;
}

static bool is_floats(const ember_tensor_t *tensor) {
    return tensor->dtype == EMBER_F32 && ember_tensor_is_contiguous(tensor);
}

static bool set_weights(transposed_t *s, const ember_tensor_t *x,
                        const ember_tensor_t *w) {
    ember_cadence_window_t *window = &s->window;
    const uint32_t space = window->last ? 1 : 2;
    const bool flat = x->rank == 3;

    if (w->rank != x->rank) {
        return false;
    }
    window->height.kernel = flat ? 1 : w->sizes[space];
    window->width.kernel = w->sizes[flat ? space : space + 1];
    s->filters = w->sizes[0];
    s->from = ember_cadence_image(window, window->channels, window->height.kernel,
                                  window->width.kernel);
    return w->numel > 0 &&
           w->sizes[window->last ? w->rank - 1u : 1] == window->channels &&
           window->channels % s->groups == 0 && s->filters <= INT32_MAX / s->groups;
}

static ember_status_t set_output(transposed_t *s, ember_node_t *node,
                                 const ember_tensor_t *x, const ember_tensor_t *w) {
    ember_cadence_window_t *window = &s->window;
    ember_tensor_t bias, y;
    int32_t sizes[4];
    const uint32_t rank =
        ember_cadence_window_shape(window, x->rank, s->filters, sizes);

    ember_node_tensor(node, BIAS, &bias);
    ember_node_output(node, Y, rank, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_floats(x) || !is_floats(w) || !is_floats(&bias) || !is_floats(&y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence convolution: dtypes");
    }
    if (bias.numel != (uint32_t)s->filters) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cadence convolution: bias");
    }
    window->y =
        ember_cadence_image(window, s->filters, window->height.out, window->width.out);
    s->x = x->data;
    s->w = w->data;
    s->bias = bias.data;
    s->y = y.data;
    ember_node_work(node, y.numel, w->numel / (uint32_t)w->sizes[0]);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    static const ember_cadence_lists_t lists = {STRIDE, PADDING, DILATION, OUT_PADDING,
                                                0};
    transposed_t *s = state;
    ember_tensor_t x, w;

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, W, &w);
    s->groups = ember_node_int_in(node, GROUPS, 1, INT32_MAX);
    const bool last = ember_node_bool(node, LAST);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!ember_cadence_window_in(&s->window, &x, last) || !set_weights(s, &x, &w)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cadence convolution: sizes do not fit");
    }
    s->filters *= s->groups;
    const ember_status_t status = ember_cadence_window_out(&s->window, node, &lists);
    return status != EMBER_OK ? status : set_output(s, node, &x, &w);
}

EMBER_KERNEL(cadence_transposed_conv_f32, transposed_t);
