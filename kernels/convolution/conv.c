// SPDX-License-Identifier: Apache-2.0
// The arguments of aten::convolution. Contract: conv.h.
#include "kernels/convolution/conv.h"

#include <string.h>

#include "kernels/engine/view.h"

enum { X, W, BIAS, LISTS };

// From the first of the lists on.
enum { STRIDE, PADDING, DILATION, TRANSPOSED, OUT_PADDING, GROUPS };
// Calls of the cadence dialect, which are never transposed, have fewer.
enum { FEW_GROUPS = DILATION + 1 };

static bool has_few(ember_node_t *node, uint32_t lists) {
    return ember_node_kind(node, lists + FEW_GROUPS) == EMBER_INT;
}

// A parameter larger than any tensor is long could only overflow sums.
enum { LIMIT = 1 << 29 };

// Reads a list of `count` items (one stands for all), after the unused leading
// dimensions, which keep `unused`.
static void read_list(ember_node_t *node, uint32_t arg, uint32_t count, int32_t low,
                      int32_t unused, int32_t items[EMBER_CONV_DIMS]) {
    int32_t given[EMBER_CONV_DIMS];
    const uint32_t length = ember_node_ints(node, arg, given, EMBER_CONV_DIMS);

    if (length != count && length != 1) {
        ember_node_fail(node, EMBER_BAD_PROGRAM,
                        "convolution: a list has the wrong length");
        return;
    }
    for (uint32_t d = 0; d < EMBER_CONV_DIMS; d++) {
        const uint32_t unset = EMBER_CONV_DIMS - count;
        items[d] = d < unset ? unused : given[length == 1 ? 0 : d - unset];
        if (items[d] < low || items[d] > LIMIT) {
            ember_node_fail(node,
                            items[d] < low ? EMBER_BAD_PROGRAM : EMBER_UNSUPPORTED,
                            "convolution: bad parameter");
        }
    }
}

// Extends a view of rank 3 to 5 to all five dimensions.
static void as_volume(ember_view_t *view) {
    while (view->rank < EMBER_CONV_DIMS + 2) {
        ember_view_insert(view, 2, 1, 0);
    }
}

static ember_conv_operand_t operand(const ember_view_t *view) {
    ember_conv_operand_t operand = {
        view->data, view->strides[0], view->strides[1], {0}};

    memcpy(operand.space, view->strides + 2, sizeof(operand.space));
    return operand;
}

ember_conv_operand_t ember_conv_operand(const ember_tensor_t *tensor) {
    ember_view_t view;

    ember_view_tensor(&view, tensor);
    as_volume(&view);
    return operand(&view);
}

// Length of dimension `d` of the output; -1 if the parameters are out of range.
static int64_t out_length(const ember_conv_t *conv, uint32_t d, int32_t out_padding) {
    const int64_t reach = (int64_t)conv->dilation[d] * (conv->kernel[d] - 1);
    const int64_t span = conv->in[d] + 2 * (int64_t)conv->padding[d];

    if (!conv->transposed) {
        const int64_t room = span - reach - 1;
        return span > INT32_MAX / 2 || room < 0 ? -1
                                                : (int32_t)room / conv->stride[d] + 1;
    }
    const int64_t steps = (conv->in[d] - (int64_t)1) * conv->stride[d];
    if (reach > LIMIT || steps > LIMIT || conv->in[d] < 1) {
        return -1;
    }
    return steps - 2 * (int64_t)conv->padding[d] + reach + out_padding + 1;
}

static bool set_lengths(ember_conv_t *conv, ember_node_t *node, uint32_t lists,
                        uint32_t dims) {
    int32_t out_padding[EMBER_CONV_DIMS] = {0, 0, 0};

    read_list(node, lists + STRIDE, dims, 1, 1, conv->stride);
    read_list(node, lists + PADDING, dims, 0, 0, conv->padding);
    read_list(node, lists + DILATION, dims, 1, 1, conv->dilation);
    if (conv->transposed) {
        read_list(node, lists + OUT_PADDING, dims, 0, 0, out_padding);
    }
    if (ember_node_status(node) != EMBER_OK) {
        return false;
    }
    for (uint32_t d = 0; d < EMBER_CONV_DIMS; d++) {
        if (conv->transposed && out_padding[d] >= conv->stride[d] &&
            out_padding[d] >= conv->dilation[d]) {
            ember_node_fail(node, EMBER_BAD_PROGRAM,
                            "convolution: output_padding reaches stride and dilation");
            return false;
        }
        const int64_t length =
            conv->kernel[d] < 1 ? -1 : out_length(conv, d, out_padding[d]);
        if (length < 0 || length > LIMIT) {
            return false;
        }
        conv->out[d] = (int32_t)length;
    }
    return true;
}

// Channels and filters per group, from the sizes of input and weight.
static bool set_channels(ember_conv_t *conv, const ember_view_t *x,
                         const ember_view_t *w) {
    conv->batches = x->sizes[0];
    if (x->sizes[1] % conv->groups != 0) {
        return false;
    }
    conv->channels = x->sizes[1] / conv->groups;
    if (conv->transposed) {
        conv->filters = w->sizes[1];
        return w->sizes[0] == x->sizes[1];
    }
    conv->filters = w->sizes[0] / conv->groups;
    return w->sizes[0] % conv->groups == 0 && w->sizes[1] == conv->channels;
}

static bool is_integer(uint32_t dtype) {
    return dtype <= EMBER_S64 || dtype >= EMBER_U16;
}

// As in PyTorch, integers accept a bias of another integer type, which wraps.
static ember_status_t set_bias(ember_conv_t *conv, ember_node_t *node) {
    ember_tensor_t bias;

    conv->bias = NULL;
    if (!ember_node_optional_tensor(node, BIAS, &bias)) {
        return ember_node_status(node);
    }
    if (bias.rank != 1 ||
        (int64_t)bias.numel != (int64_t)conv->filters * conv->groups) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "convolution: wrong shape of bias");
    }
    if (bias.dtype != conv->dtype &&
        !(is_integer(bias.dtype) && is_integer(conv->dtype))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "convolution: wrong dtype of bias");
    }
    conv->bias = bias.data;
    conv->bias_dtype = bias.dtype;
    return EMBER_OK;
}

// Whether the channels of a tensor are innermost in memory and the rest in order.
static bool is_channels_last(const ember_tensor_t *tensor) {
    uint8_t order[EMBER_MAX_RANK];
    ember_tensor_t alike = *tensor;

    order[0] = 0;
    for (uint32_t d = 1; d + 1 < tensor->rank; d++) {
        order[d] = (uint8_t)(d + 1);
    }
    order[tensor->rank - 1] = 1;
    alike.dim_order = order;
    return ember_tensor_same_layout(tensor, &alike);
}

// The output: its shape from all that is known, and its layout.
static ember_status_t set_output(ember_conv_t *conv, ember_node_t *node,
                                 const ember_tensor_t *x, const ember_tensor_t *w) {
    const uint32_t dims = x->rank - 2u;
    const int64_t channels = (int64_t)conv->filters * conv->groups;
    int32_t sizes[EMBER_CONV_DIMS + 2] = {conv->batches, (int32_t)channels};
    ember_tensor_t y;

    if (channels > INT32_MAX) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "convolution: too many channels");
    }
    memcpy(sizes + 2, conv->out + EMBER_CONV_DIMS - dims, dims * sizeof(sizes[0]));
    ember_node_output(node, ember_node_arg_count(node) - 2, x->rank, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (y.dtype != conv->dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "convolution: wrong dtype of output");
    }
    conv->y = ember_conv_operand(&y);
    conv->lines = ember_tensor_is_contiguous(w) && ember_tensor_is_contiguous(&y);
    conv->planes = conv->lines && ember_tensor_is_contiguous(x);
    conv->channels_last =
        is_channels_last(x) && is_channels_last(w) && is_channels_last(&y);
    ember_conv_work(conv, node, y.numel);
    if (y.numel == 0) { // nothing to do, whichever size is 0
        conv->batches = 0;
    }
    return EMBER_OK;
}

static void swap(int32_t *space) {
    const int32_t height = space[1];

    space[1] = space[2];
    space[2] = height;
}

// A single column everywhere becomes a single row: kernels are made for long rows, and
// memory and order of the products are the same.
static void turn_column(ember_conv_t *conv) {
    if (conv->in[2] != 1 || conv->kernel[2] != 1 || conv->out[2] != 1 ||
        conv->padding[2] != 0) {
        return;
    }
    swap(conv->in);
    swap(conv->out);
    swap(conv->kernel);
    swap(conv->stride);
    swap(conv->padding);
    swap(conv->dilation);
    swap(conv->x.space);
    swap(conv->w.space);
    swap(conv->y.space);
}

// Whether rows of the image are lines: all steps but those of rows and channels are
// those of contiguous planes.
static void set_lines(ember_conv_t *conv) {
    const int32_t size = (int32_t)ember_dtype_size(conv->dtype);
    const bool adjacent = conv->x.space[2] == size && conv->batches == 1;

    conv->lines = conv->lines && (conv->planes || adjacent);
}

ember_conv_operand_t ember_conv_weight(const ember_conv_t *conv,
                                       const ember_tensor_t *weight, int32_t *group) {
    ember_conv_operand_t w = ember_conv_operand(weight);
    const int32_t inner = w.inner;

    if (conv->transposed) { // stored as (input channel, output channel, ...)
        *group = w.outer * (weight->numel == 0 ? 0 : conv->channels);
        w.inner = w.outer;
        w.outer = inner;
    } else {
        *group = w.outer * (weight->numel == 0 ? 0 : conv->filters);
    }
    return w;
}

// Reads input and weight, which have the same rank, as volumes.
static bool set_inputs(ember_conv_t *conv, ember_node_t *node, uint32_t lists,
                       const ember_tensor_t *x, const ember_tensor_t *w) {
    ember_view_t from, weight;

    const bool few = has_few(node, lists);
    conv->transposed = !few && ember_node_bool(node, lists + TRANSPOSED);
    conv->groups =
        ember_node_int_in(node, lists + (few ? FEW_GROUPS : GROUPS), 1, INT32_MAX);
    conv->dtype = x->dtype;
    ember_view_tensor(&from, x);
    ember_view_tensor(&weight, w);
    as_volume(&from);
    as_volume(&weight);
    if (ember_node_status(node) != EMBER_OK || !set_channels(conv, &from, &weight)) {
        return false;
    }
    conv->x = operand(&from);
    conv->w = ember_conv_weight(conv, w, &conv->w_group);
    memcpy(conv->in, from.sizes + 2, sizeof(conv->in));
    memcpy(conv->kernel, weight.sizes + 2, sizeof(conv->kernel));
    return true;
}

ember_status_t ember_conv_geometry(ember_conv_t *conv, ember_node_t *node,
                                   uint32_t lists, const ember_tensor_t *x,
                                   const ember_tensor_t *w) {
    if (x->rank < 3 || x->rank > EMBER_CONV_DIMS + 2 || w->rank != x->rank) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: rank");
    }
    if (x->dtype != w->dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "convolution: dtypes differ");
    }
    if (!set_inputs(conv, node, lists, x, w) ||
        !set_lengths(conv, node, lists, x->rank - 2u)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "convolution: sizes or parameters do not fit");
    }
    if (w->numel == 0) {
        memset(conv->kernel, 0, sizeof(conv->kernel));
    }
    return EMBER_OK;
}

void ember_conv_work(const ember_conv_t *conv, ember_node_t *node, uint32_t outputs) {
    uint32_t taps = (uint32_t)conv->channels;
    for (uint32_t d = 0; d < EMBER_CONV_DIMS; d++) {
        taps *= (uint32_t)conv->kernel[d]; // elements of the weight, at most
    }
    ember_node_work(node, outputs, taps);
}

ember_status_t ember_conv_args(ember_conv_t *conv, ember_node_t *node) {
    ember_tensor_t x, w;

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, W, &w);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_status_t status = ember_conv_geometry(conv, node, LISTS, &x, &w);
    if (status == EMBER_OK) {
        status = set_bias(conv, node);
    }
    if (status == EMBER_OK) {
        status = set_output(conv, node, &x, &w);
    }
    if (status == EMBER_OK) {
        turn_column(conv);
        set_lines(conv);
    }
    return status;
}

bool ember_conv_is_2d_f32(const ember_conv_t *conv) {
    return conv->dtype == EMBER_F32 && !conv->transposed && conv->channels > 0 &&
           conv->in[0] == 1 && conv->out[0] == 1 && conv->kernel[0] == 1;
}
