// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect on the engines of cortex_m. Contract: lent.h.
#include "kernels/cadence/lent.h"

#include <stddef.h>

// --- prepare -----------------------------------------------------------------------

static ember_conv_s8_axis_t axis_of(const ember_cadence_axis_t *axis) {
    return (ember_conv_s8_axis_t){axis->in,     axis->out,     axis->kernel,
                                  axis->stride, axis->padding, axis->dilation};
}

static bool is_depthwise(const ember_cadence_conv_t *call) {
    return call->depth == 1 && call->groups > 1 && call->filters == call->groups;
}

// Whether engines of one core or another have its products, and scale its sums as the
// dialect does.
static bool is_lent(const ember_cadence_conv_t *call) {
    const ember_cadence_number_t *scale = &call->scale;

    return call->x_dtype == EMBER_S8 && call->w_dtype == EMBER_S8 && call->whole &&
           call->w_zero.at == NULL && call->w_zero.whole == 0 && scale->at == NULL &&
           !call->window.transposed && call->window.height.out > 0 &&
           call->window.width.out > 0 && call->window.batches > 0 &&
           ember_real_fits(scale->real, call->inverse);
}

// The call as an engine has it, but for what is turned.
static ember_conv_s8_t conv_of(const ember_cadence_conv_t *call) {
    return (ember_conv_s8_t){
        .x = call->x,
        .w = call->w,
        .y = call->y,
        .scales = {.bias = call->bias,
                   .scale = call->scale.real,
                   .inverse = call->inverse,
                   .zero_point = (int16_t)ember_cadence_cut_of(&call->cut, 0.0f),
                   .limits = {INT8_MIN, INT8_MAX}},
        .batches = call->window.batches,
        .channels = call->window.channels,
        .filters = call->filters,
        .depth = call->depth,
        .height = axis_of(&call->window.height),
        .width = axis_of(&call->window.width),
        .x_offset = (int16_t)-call->x_zero,
        .rows = EMBER_ROWS_REAL,
    };
}

// Weights (filters, depth, taps) become (filters, taps, depth); depthwise, (filters,
// taps) become (taps, filters), and the other way round where all filters see one
// channel.
static void set_weights(ember_lent_t *lent, const ember_cadence_conv_t *call) {
    const int32_t filters = call->filters, taps = call->inner / call->depth;
    const bool one = !is_depthwise(call) && call->tap != 1;

    lent->depthwise = is_depthwise(call);
    lent->filters = 1;
    if (lent->depthwise) {
        lent->rows = call->tap == 1 ? filters : 1;
        lent->columns = taps;
    } else if (one) {
        lent->rows = taps;
        lent->columns = filters;
    } else {
        lent->filters = filters;
        lent->rows = call->window.last ? 1 : call->depth;
        lent->columns = taps;
    }
    if (lent->rows > 1 && lent->columns > 1) {
        lent->w = call->w;
    }
}

// Bytes of scratch for each, in multiples of sixteen.
static size_t bytes(size_t count) {
    return (count + 15) & ~(size_t)15;
}

ember_status_t ember_lent_turned(ember_lent_t *lent, ember_conv_s8_t *conv,
                                 ember_node_t *node, size_t w, bool last) {
    size_t x = 0, y = 0;

    lent->batches = 1;
    if (!last && conv->channels > 1 && ember_lent_in(conv) > 1) {
        lent->x = conv->x;
        x = (size_t)ember_lent_in(conv) * (size_t)conv->channels;
    }
    if (!last && conv->filters > 1 && ember_lent_out(conv) > 1) {
        lent->y = conv->y;
        y = (size_t)ember_lent_out(conv) * (size_t)conv->filters;
    }
    if (conv->batches > 1 && (x > 0) != (y > 0)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence convolution: batches");
    }
    if (x > 0 && y > 0) { // image by image
        lent->batches = conv->batches;
        conv->batches = 1;
    }
    if (w + x + y > 0) {
        int8_t *at = ember_node_scratch_before(node, bytes(w) + bytes(x) + y);
        conv->w = w > 0 ? at : conv->w;
        conv->x = x > 0 ? at + bytes(w) : conv->x;
        conv->y = y > 0 ? at + bytes(w) + bytes(x) : conv->y;
        ember_node_work(node, 1, (uint32_t)(w + (x + y) * (size_t)lent->batches));
    }
    return ember_node_status(node);
}

ember_status_t ember_lent_args(ember_lent_t *lent, ember_conv_s8_t *conv,
                               ember_node_t *node, bool last) {
    ember_cadence_conv_t call = {0};
    const ember_status_t status = ember_cadence_conv(&call, node, last);

    if (status != EMBER_OK) {
        return status;
    }
    if (!is_lent(&call)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cadence convolution: not one of cortex_m");
    }
    *conv = conv_of(&call);
    *lent = (ember_lent_t){0};
    set_weights(lent, &call);
    const size_t w = lent->w == NULL ? 0 : (size_t)call.filters * (size_t)call.inner;
    return ember_lent_turned(lent, conv, node, w, call.window.last);
}
