// SPDX-License-Identifier: Apache-2.0
// The arguments of the dialect's quantised convolutions. Contract: conv.h.
#include "kernels/cadence/conv.h"

#include "kernels/engine/affine.h"
#include "kernels/engine/element.h"
#include "kernels/engine/work.h"

enum { X, W, BIAS, STRIDE, PADDING, DILATION };
enum { GROUPS, X_ZERO, W_ZERO, SCALE, Y_SCALE, Y_ZERO }; // behind the lists
enum { EXACT = 1 << 24 };                                // sums that float32 counts

// Sizes of the weights: those of the taps, and the filters.
static bool set_weights(ember_cadence_conv_t *s, const ember_tensor_t *w,
                        uint32_t rank) {
    const bool depthwise = w->rank + 1u == rank && s->window.last;
    const bool flat = rank == 3;
    const uint32_t space = depthwise ? 0 : s->window.last ? 1 : 2;

    if (!depthwise && w->rank != rank) {
        return false;
    }
    s->window.height.kernel = flat ? 1 : w->sizes[space];
    s->window.width.kernel = w->sizes[flat ? space : space + 1];
    s->filters = w->sizes[depthwise ? w->rank - 1u : 0];
    s->depth = depthwise ? 1 : w->sizes[s->window.last ? w->rank - 1u : 1];
    s->tap = depthwise ? s->filters : 1;
    return true;
}

// Whether no sum of a filter can leave the integers that float32 has.
static bool stays_whole(const ember_cadence_conv_t *s, int32_t filter, int64_t reach) {
    const int32_t zero = ember_cadence_whole(&s->w_zero, 0);
    const uint32_t start = (uint32_t)filter * (uint32_t)(s->tap == 1 ? s->inner : 1);
    int64_t sum = s->bias[filter] < 0 ? -(int64_t)s->bias[filter] : s->bias[filter];
    int64_t weights = 0;

    for (int32_t k = 0; k < s->inner; k++) {
        const uint32_t at = start + (uint32_t)k * (uint32_t)s->tap;
        const int64_t w = (int64_t)ember_cadence_element(s->w, s->w_dtype, at) - zero;
        weights += w < 0 ? -w : w;
    }
    sum += weights * reach;
    return weights <= EXACT && sum <= EXACT;
}

static bool all_whole(const ember_cadence_conv_t *s) {
    int64_t low = 0, high = 0;
    const int32_t filters = s->window.transposed ? s->filters / s->groups : s->filters;

    (void)ember_quantized_range(s->x_dtype, &low, &high);
    const int64_t above = high - s->x_zero, below = s->x_zero - low;
    for (int32_t f = 0; f < filters; f++) {
        if (!stays_whole(s, f, above > below ? above : below)) {
            return false;
        }
    }
    return true;
}

static bool dtypes_fit(const ember_tensor_t *x, const ember_tensor_t *w,
                       const ember_tensor_t *y) {
    const bool bytes = x->dtype == EMBER_S8 || x->dtype == EMBER_U8;
    const bool half = x->dtype == EMBER_S16;
    return y->dtype == x->dtype && ((w->dtype == x->dtype && (bytes || half)) ||
                                    (half && w->dtype == EMBER_S8));
}

// Scales and zero points; those of x and y wrap around in their dtypes.
static ember_status_t set_numbers(ember_cadence_conv_t *s, ember_node_t *node,
                                  uint32_t at, uint32_t scales) {
    const int64_t x_zero = ember_node_int(node, at + X_ZERO);
    const int64_t y_zero = ember_node_int(node, at + Y_ZERO);

    s->w_zero = ember_cadence_whole_arg(node, at + W_ZERO, 1);
    s->scale = ember_cadence_real_arg(node, at + SCALE, scales);
    s->inverse = 1.0f / (float)ember_node_double(node, at + Y_SCALE);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    s->x_zero = (int32_t)ember_integer_wrap(s->x_dtype, x_zero);
    const bool cut = ember_cadence_cut_set(
        &s->cut, s->x_dtype, (int32_t)ember_integer_wrap(s->x_dtype, y_zero));
    if (!cut || s->w_zero.whole < -EMBER_CADENCE_ZERO ||
        s->w_zero.whole > EMBER_CADENCE_ZERO) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cadence: a zero point is out of range");
    }
    return EMBER_OK;
}

// Bias, output and scratch, when all sizes are known.
static ember_status_t set_rest(ember_cadence_conv_t *s, ember_node_t *node,
                               const ember_tensor_t *x, const ember_tensor_t *w) {
    const ember_cadence_window_t *window = &s->window;
    const uint32_t out = ember_node_arg_count(node) - 2;
    int32_t sizes[4];
    ember_tensor_t bias, y;

    ember_node_tensor(node, BIAS, &bias);
    const uint32_t rank =
        ember_cadence_window_shape(window, x->rank, s->filters, sizes);
    ember_node_output(node, out, rank, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!dtypes_fit(x, w, &y) || bias.dtype != EMBER_S32) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence convolution: dtypes");
    }
    if (!ember_cadence_plain(node, x) || !ember_cadence_plain(node, w) ||
        !ember_cadence_plain(node, &y)) {
        return ember_node_status(node);
    }
    if (bias.numel != (uint32_t)s->filters) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cadence convolution: bias");
    }
    s->x = x->data;
    s->w = w->data;
    s->bias = bias.data;
    s->y = y.data;
    s->window.y =
        ember_cadence_image(window, s->filters, window->height.out, window->width.out);
    s->whole = w->constant && bias.constant && w->data != NULL && bias.data != NULL &&
               s->w_zero.at == NULL && all_whole(s);
    ember_work_products(node, y.numel, (uint32_t)s->inner,
                        s->whole ? 1 : EMBER_STEPS_ANY); // by a zero point for each
    ember_node_work(node, y.numel, EMBER_STEPS_RESULT);
    s->patch = ember_node_scratch(node, (size_t)s->inner * sizeof(int32_t));
    return ember_node_status(node);
}

static ember_status_t read_tensors(ember_cadence_conv_t *s, ember_node_t *node,
                                   ember_tensor_t *x, ember_tensor_t *w, bool last) {
    ember_node_tensor(node, X, x);
    ember_node_tensor(node, W, w);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    s->x_dtype = x->dtype;
    s->w_dtype = w->dtype;
    if (!ember_cadence_small(x->dtype) ||
        !ember_cadence_window_in(&s->window, x, last) || !set_weights(s, w, x->rank)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cadence convolution: wrong dtype or rank");
    }
    return EMBER_OK;
}

// Elements of a patch; 0 when there are too many.
static int32_t inner_of(const ember_cadence_conv_t *s, const ember_tensor_t *w) {
    const uint32_t taps = (uint32_t)s->window.height.kernel *
                          (uint32_t)s->window.width.kernel; // at most w->numel
    return w->numel == 0 ? 0 : (int32_t)(taps * (uint32_t)s->depth);
}

ember_status_t ember_cadence_conv(ember_cadence_conv_t *s, ember_node_t *node,
                                  bool last) {
    static const ember_cadence_lists_t lists = {STRIDE, PADDING, DILATION, 0, 0};
    ember_tensor_t x, w;
    ember_status_t status = read_tensors(s, node, &x, &w, last);

    if (status != EMBER_OK) {
        return status;
    }
    s->inner = inner_of(s, &w);
    s->groups = ember_node_int_in(node, DILATION + 1 + GROUPS, 1, INT32_MAX);
    if (ember_node_status(node) == EMBER_OK &&
        (s->inner == 0 || s->filters % s->groups != 0 ||
         (int64_t)s->depth * s->groups != s->window.channels)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cadence convolution: sizes do not fit");
    }
    status = ember_cadence_window_out(&s->window, node, &lists);
    if (status == EMBER_OK) {
        status = set_numbers(s, node, DILATION + 1, 1);
    }
    return status != EMBER_OK ? status : set_rest(s, node, &x, &w);
}

ember_status_t ember_cadence_conv_transposed(ember_cadence_conv_t *s,
                                             ember_node_t *node) {
    static const ember_cadence_lists_t lists = {STRIDE, PADDING, DILATION, DILATION + 1,
                                                0};
    const bool last = ember_node_bool(node, ember_node_arg_count(node) - 3);
    ember_tensor_t x, w;
    ember_status_t status = read_tensors(s, node, &x, &w, last);

    if (status != EMBER_OK) {
        return status;
    }
    s->inner = inner_of(s, &w);
    s->groups = ember_node_int_in(node, DILATION + 2 + GROUPS, 1, INT32_MAX);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (s->inner == 0 || s->tap != 1 || s->depth != s->window.channels ||
        s->depth % s->groups != 0 || s->filters > INT32_MAX / s->groups) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cadence convolution: sizes do not fit");
    }
    s->filters *= s->groups;
    status = ember_cadence_window_out(&s->window, node, &lists);
    if (status == EMBER_OK) {
        status = set_numbers(s, node, DILATION + 2, (uint32_t)s->filters);
    }
    return status != EMBER_OK ? status : set_rest(s, node, &x, &w);
}
