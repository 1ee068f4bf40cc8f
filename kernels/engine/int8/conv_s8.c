// SPDX-License-Identifier: Apache-2.0
// The arguments of convolutions of cortex_m. Contract: conv_s8.h.
#include "kernels/engine/int8/conv_s8.h"

enum { X, W, BIAS, STRIDE, PADDING, OUT_PADDING };     // the last of transposed ones
enum { Y_OFFSET = 1, MULTIPLIERS, SHIFTS, LOW, HIGH }; // from the offset of x on
enum { N, C, H, W_, RANK };                            // of images
enum { LIMIT = 1 << 28 }; // larger parameters would only overflow sums

// Reads a list of two items, or of one that stands for both.
static void read_pair(ember_node_t *node, uint32_t arg, int32_t low, int32_t *height,
                      int32_t *width) {
    int32_t items[2] = {0, 0};
    const uint32_t count = ember_node_ints(node, arg, items, 2);

    if (count < 1 || count > 2) {
        ember_node_fail(node, EMBER_BAD_PROGRAM,
                        "cortex_m: a list has the wrong length");
        return;
    }
    *height = items[0];
    *width = items[count - 1];
    const bool bad = *height < low || *width < low;
    if (bad || *height > LIMIT || *width > LIMIT) {
        ember_node_fail(node, bad ? EMBER_BAD_PROGRAM : EMBER_UNSUPPORTED,
                        "cortex_m: bad parameter");
    }
}

// Length of the output of an axis; -1 when its parameters are out of range.
static int32_t out_length(const ember_conv_s8_axis_t *axis, bool transposed,
                          int32_t out_padding) {
    const int64_t reach = (int64_t)axis->dilation * (axis->kernel - 1);
    const int64_t span = axis->in + 2 * (int64_t)axis->padding;
    int64_t length;

    if (axis->kernel < 1 || axis->in < 1 || span > LIMIT || reach > LIMIT) {
        return -1;
    }
    if (transposed) {
        const int64_t steps = (axis->in - (int64_t)1) * axis->stride;
        length = steps - 2 * (int64_t)axis->padding + reach + out_padding + 1;
    } else {
        const int32_t steps = (int32_t)(span - reach - 1);
        length = reach < span ? steps / axis->stride + 1 : -1;
    }
    return length > LIMIT ? -1 : (int32_t)length;
}

bool ember_conv_s8_is_image(const ember_tensor_t *tensor) {
    static const uint8_t order[RANK] = {N, H, W_, C};
    ember_tensor_t alike = *tensor;

    alike.dim_order = order;
    return tensor->rank == RANK && ember_tensor_same_order(tensor, &alike);
}

// Whether `tensor` is a constant (count,) of int32.
static bool is_constants(const ember_tensor_t *tensor, int32_t count) {
    return tensor->constant && tensor->dtype == EMBER_S32 && tensor->rank == 1 &&
           tensor->numel == (uint32_t)count;
}

// Whether a shift is in [-31, most].
static bool goes_right(int32_t shift, uint32_t most) {
    return (uint32_t)shift + 31u <= most + 31u; // modulo 2^32 on either side
}

// Whether the rows are what nearly all models have, which takes one short pass: each
// multiplier is at least 2^30, each shift in [-31, -1]. Their bits tell, except for
// shifts that together set the bits of -32.
static bool are_plain(const int32_t *multipliers, const int32_t *shifts,
                      int32_t count) {
    uint32_t any_multiplier = 0, every_multiplier = UINT32_MAX, any_shift = 0;
    do {
        const uint32_t multiplier = (uint32_t)*multipliers++;
        any_multiplier |= multiplier;
        every_multiplier &= multiplier;
        any_shift |= ~(uint32_t)*shifts++;
    } while (--count > 0);
    return any_multiplier >> 31 == 0 && every_multiplier >> 30 != 0 && any_shift < 31;
}

// The same, exactly: a multiplier may also be 0.
static bool are_normal(const int32_t *multipliers, const int32_t *shifts,
                       int32_t count) {
    for (; count > 0; count--) {
        const uint32_t multiplier = (uint32_t)*multipliers++;
        if (!goes_right(*shifts++, (uint32_t)-1) ||
            (multiplier >> 30 != 1 && multiplier != 0)) {
            return false;
        }
    }
    return true;
}

// False when rows are out of the range of requantize.h. Those that are not there to be
// read count as normal.
static bool set_rows(ember_conv_s8_t *conv) {
    const int32_t *multipliers = conv->scales.multipliers;
    const int32_t *shifts = conv->scales.shifts;

    conv->rows = EMBER_ROWS_NORMAL;
    if (multipliers == NULL || shifts == NULL ||
        are_plain(multipliers, shifts, conv->filters) ||
        are_normal(multipliers, shifts, conv->filters)) {
        return true;
    }
    conv->rows = EMBER_ROWS_SHIFT;
    for (int32_t i = 0; i < conv->filters; i++) {
        if (multipliers[i] < 0 || shifts[i] < EMBER_REQUANTIZE_SHIFT_MIN ||
            shifts[i] > EMBER_REQUANTIZE_SHIFT_MAX) {
            return false;
        }
        if (!goes_right(shifts[i], 0)) {
            conv->rows = EMBER_ROWS_ANY;
        } else if (shifts[i] == 0 && conv->rows == EMBER_ROWS_SHIFT) {
            conv->rows = EMBER_ROWS_RIGHT;
        }
    }
    return true;
}

// Apart, as the output is.
__attribute__((noinline)) ember_status_t ember_conv_s8_scales_args(
    ember_conv_s8_t *conv, ember_node_t *node, uint32_t multipliers) {
    ember_scales_s8_t *scales = &conv->scales;
    const int32_t filters = conv->filters;
    ember_tensor_t by, shifts, added;
    const bool biased = ember_node_optional_tensor(node, BIAS, &added);

    ember_node_tensor(node, multipliers, &by);
    ember_node_tensor(node, multipliers + 1, &shifts);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    scales->multipliers = by.data;
    scales->shifts = shifts.data;
    if (!is_constants(&by, filters) || !is_constants(&shifts, filters) ||
        !set_rows(conv)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: multipliers");
    }
    if (biased && (added.dtype != EMBER_S32 || added.numel != (uint32_t)filters ||
                   !ember_tensor_is_contiguous(&added))) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cortex_m: bias");
    }
    scales->bias = added.data;
    return EMBER_OK;
}

bool ember_conv_s8_channels(ember_conv_s8_t *conv, const ember_tensor_t *x,
                            const ember_tensor_t *w,
                            const ember_conv_s8_places_t *places) {
    const bool depthwise = places->depthwise;
    conv->batches = x->sizes[N];
    conv->channels = x->sizes[C];
    conv->filters = w->sizes[depthwise ? 3 : 0];
    conv->depth = w->sizes[depthwise ? 0 : 3];
    conv->height.in = x->sizes[H];
    conv->width.in = x->sizes[W_];
    conv->height.kernel = w->sizes[1];
    conv->width.kernel = w->sizes[2];
    if (places->packed) {
        return conv->depth >= conv->channels && conv->filters > 0;
    }
    if (conv->depth < 1 || conv->channels % conv->depth != 0) {
        return false;
    }
    const int32_t groups = conv->channels / conv->depth;
    return (!depthwise || conv->depth == 1) && groups > 0 && conv->filters > 0 &&
           conv->filters % groups == 0;
}

// Apart, so that it is not on the stack while scales are read.
__attribute__((noinline)) ember_status_t ember_conv_s8_output(ember_conv_s8_t *conv,
                                                              ember_node_t *node,
                                                              uint32_t out) {
    const int32_t sizes[RANK] = {conv->batches, conv->filters, conv->height.out,
                                 conv->width.out};
    ember_tensor_t y;

    ember_node_output(node, out, RANK, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (y.dtype != EMBER_S8 || !ember_conv_s8_is_image(&y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: wrong layout of the output");
    }
    conv->y = y.data;
    ember_node_work(node, y.numel, EMBER_STEPS_RESULT);
    return EMBER_OK;
}

bool ember_conv_s8_geometry(ember_conv_s8_t *conv, ember_node_t *node,
                            const ember_conv_s8_places_t *places) {
    ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;
    int32_t out_padding[2] = {0, 0};

    read_pair(node, STRIDE, 1, &height->stride, &width->stride);
    read_pair(node, PADDING, 0, &height->padding, &width->padding);
    read_pair(node, places->dilation, 1, &height->dilation, &width->dilation);
    if (places->transposed) {
        read_pair(node, OUT_PADDING, 0, &out_padding[0], &out_padding[1]);
    }
    if (ember_node_status(node) != EMBER_OK) {
        return false;
    }
    height->out = out_length(height, places->transposed, out_padding[0]);
    width->out = out_length(width, places->transposed, out_padding[1]);
    return height->out >= 0 && width->out >= 0;
}

void ember_conv_s8_of_rows(ember_conv_s8_t *conv, const ember_tensor_t *x,
                           int32_t inner, int32_t filters) {
    const ember_conv_s8_axis_t one = {1, 1, 1, 1, 0, 1};

    conv->batches = 1;
    conv->channels = inner;
    conv->depth = inner;
    conv->filters = filters;
    conv->height = one;
    conv->width = one;
    conv->width.in = (int32_t)(x->numel / (uint32_t)inner);
    conv->width.out = conv->width.in;
}

// Whether an output that lies where its input does has the elements of that.
static bool set_over(ember_conv_s8_t *conv, bool transposed) {
    const ember_conv_s8_axis_t *height = &conv->height, *width = &conv->width;

    conv->over = conv->y != NULL && conv->y == conv->x;
    return !conv->over || (!transposed && height->stride == 1 && width->stride == 1 &&
                           height->out == height->in && width->out == width->in &&
                           conv->filters == conv->channels);
}

// Gives weights of int4, rows of bytes, the shape of those of int8: `sizes`.
static void unfold(ember_tensor_t *w, ember_node_t *node, uint32_t kernel,
                   int32_t depth, int32_t sizes[RANK]) {
    sizes[0] = w->rank == 2 ? w->sizes[0] : 0;
    sizes[3] = depth;
    read_pair(node, kernel, 1, &sizes[1], &sizes[2]);
    if (ember_node_status(node) != EMBER_OK) {
        return;
    }
    const int64_t taps = (int64_t)sizes[1] * sizes[2];
    const int64_t inner = taps > LIMIT ? taps : taps * depth;
    if (w->rank != 2 || inner > LIMIT || w->sizes[1] != (inner + 7) / 8 * 4 ||
        inner * sizes[0] > UINT32_MAX) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "ember: weights of int4");
        return;
    }
    w->sizes = sizes;
    w->rank = RANK;
    w->numel = (uint32_t)(inner * sizes[0]);
}

ember_status_t ember_conv_s8_args(ember_conv_s8_t *conv, ember_node_t *node,
                                  const ember_conv_s8_places_t *places) {
    ember_tensor_t x, w;
    const uint32_t at = places->offset;
    int32_t sizes[RANK];

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, W, &w);
    conv->x_offset = (int16_t)ember_zero_point_arg(node, at);
    conv->scales.zero_point = (int16_t)ember_zero_point_arg(node, at + Y_OFFSET);
    conv->scales.limits = ember_limits_s8_args(node, at + LOW, at + HIGH);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const bool contiguous = ember_tensor_is_contiguous(&w);
    if (places->kernel != 0 && x.rank == RANK) {
        unfold(&w, node, places->kernel, x.sizes[C], sizes);
        if (ember_node_status(node) != EMBER_OK) {
            return ember_node_status(node);
        }
    }
    if (x.dtype != EMBER_S8 || w.dtype != EMBER_S8 || w.rank != RANK ||
        !ember_conv_s8_is_image(&x) || !contiguous) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: layout");
    }
    if (!ember_conv_s8_channels(conv, &x, &w, places) ||
        !ember_conv_s8_geometry(conv, node, places)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cortex_m: sizes or parameters do not fit");
    }
    conv->x = x.data;
    conv->w = w.data;
    const ember_status_t status =
        ember_conv_s8_scales_args(conv, node, at + MULTIPLIERS);
    // Each filter meets the pixels of the output; transposed, those of the image.
    const int32_t pixels = places->transposed ? conv->height.in * conv->width.in
                                              : conv->height.out * conv->width.out;
    ember_node_work(node, (uint32_t)(conv->batches * pixels), w.numel);
    if (status != EMBER_OK ||
        ember_conv_s8_output(conv, node, places->out) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!set_over(conv, places->transposed)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: an output lies over its input");
    }
    return EMBER_OK;
}

ember_status_t ember_conv_s8_plain_args(ember_conv_s8_t *conv, ember_node_t *node) {
    const ember_conv_s8_places_t places = {.dilation = 5, .offset = 6, .out = 13};
    return ember_conv_s8_args(conv, node, &places);
}

ember_status_t ember_conv_s8_transposed_args(ember_conv_s8_t *conv,
                                             ember_node_t *node) {
    const ember_conv_s8_places_t places = {
        .dilation = 6, .offset = 7, .out = 15, .transposed = true};
    return ember_conv_s8_args(conv, node, &places);
}

ember_status_t ember_conv_s8_depthwise_args(ember_conv_s8_t *conv, ember_node_t *node) {
    const ember_conv_s8_places_t places = {
        .dilation = 5, .offset = 7, .out = 14, .depthwise = true};
    const ember_status_t status = ember_conv_s8_args(conv, node, &places);

    if (status != EMBER_OK) {
        return status;
    }
    const int64_t each = ember_node_int_in(node, places.offset - 1u, 1, conv->filters);
    if (each * conv->channels != conv->filters) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cortex_m: wrong depth multiplier");
    }
    return EMBER_OK;
}
