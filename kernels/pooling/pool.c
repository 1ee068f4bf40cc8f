// SPDX-License-Identifier: Apache-2.0
// The geometry of pooling. Contract: pool.h.
#include "kernels/pooling/pool.h"

#include <string.h>

#include "kernels/engine/windows.h"

// A parameter larger than any tensor is long could only overflow sums.
enum { LIMIT = 1 << 28 };

enum { CUTTING_STEPS = 24 }; // to find a window, which takes divisions

// Reads one number or one for each dimension, in [low, LIMIT], after the unused leading
// dimensions; an empty list keeps `items`.
static void read_list(ember_node_t *node, uint32_t arg, uint32_t dims, int32_t low,
                      int32_t *items) {
    int32_t given[EMBER_POOL_DIMS];
    const uint32_t count = ember_node_ints(node, arg, given, dims);
    const uint32_t unused = EMBER_POOL_DIMS - dims;

    if (count > 1 && count != dims) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "pool: a list has the wrong length");
        return;
    }
    for (uint32_t d = 0; count > 0 && d < dims; d++) {
        items[unused + d] = given[count == 1 ? 0 : d];
        if (items[unused + d] < low || items[unused + d] > LIMIT) {
            ember_node_fail(
                node, items[unused + d] < low ? EMBER_BAD_PROGRAM : EMBER_UNSUPPORTED,
                "pool: bad parameter");
        }
    }
}

static void read_windows(ember_pool_t *pool, ember_node_t *node,
                         const ember_pool_args_t *args) {
    for (uint32_t d = 0; d < EMBER_POOL_DIMS; d++) {
        pool->padding[d] = 0;
        pool->dilation[d] = 1;
        pool->kernel[d] = d + args->dims < EMBER_POOL_DIMS ? 1 : 0;
    }
    read_list(node, args->kernel, args->dims, 1, pool->kernel);
    memcpy(pool->stride, pool->kernel, sizeof(pool->stride));
    read_list(node, args->stride, args->dims, 1, pool->stride);
    read_list(node, args->padding, args->dims, 0, pool->padding);
    if (args->dilation != 0) {
        read_list(node, args->dilation, args->dims, 1, pool->dilation);
    }
}

// Length of dimension `d` of the output; -1 if the parameters do not fit. As in ATen,
// padding is at most half a window.
static int64_t out_length(const ember_pool_t *pool, uint32_t d, bool ceil) {
    const int64_t in = pool->in[d];
    const int64_t window = pool->dilation[d] * ((int64_t)pool->kernel[d] - 1) + 1;
    const int64_t padding = pool->padding[d];
    const int64_t stride = pool->stride[d];

    if (pool->kernel[d] < 1 || stride < 1 || padding < 0 || window > LIMIT ||
        2 * padding > window || in > LIMIT) {
        return -1;
    }
    return ember_windows(in, window, stride, padding, ceil);
}

// The size of adaptive outputs: listed, or that of the gradient.
static bool set_adaptive(ember_pool_t *pool, ember_node_t *node,
                         const ember_pool_args_t *args) {
    pool->out[0] = 1;
    pool->out[2] = -1;
    if (args->gradient) {
        ember_tensor_t y;
        ember_node_tensor(node, 0, &y);
        if (y.rank < args->dims) {
            return false;
        }
        memcpy(pool->out + EMBER_POOL_DIMS - args->dims, y.sizes + y.rank - args->dims,
               args->dims * sizeof(pool->out[0]));
    } else {
        read_list(node, args->size, args->dims, 0, pool->out);
    }
    for (uint32_t d = 0; d < EMBER_POOL_DIMS; d++) {
        if (pool->out[d] < 0 || pool->in[d] > LIMIT || pool->out[d] > LIMIT) {
            return false;
        }
    }
    return true;
}

static bool set_lengths(ember_pool_t *pool, ember_node_t *node,
                        const ember_pool_args_t *args) {
    if (args->kernel == 0) {
        return set_adaptive(pool, node, args);
    }
    const bool ceil = ember_node_bool(node, args->ceil_mode);
    read_windows(pool, node, args);
    for (uint32_t d = 0; d < EMBER_POOL_DIMS; d++) {
        const int64_t length = out_length(pool, d, ceil);
        if (length < 0 || length > LIMIT) {
            return false;
        }
        pool->out[d] = (int32_t)length;
    }
    return true;
}

// Extends a view of `dims` + 1 or `dims` + 2 dimensions to all five.
static void as_volumes(ember_view_t *view, uint32_t dims) {
    if (view->rank == dims + 1) {
        ember_view_insert(view, 0, 1, 0);
    }
    while (view->rank < EMBER_POOL_DIMS + 2) {
        ember_view_insert(view, 2, 1, 0);
    }
}

// The most elements of a window: what is outside the input is skipped.
static uint32_t taps_of(const ember_pool_t *pool, bool adaptive) {
    uint32_t taps = 1;

    for (uint32_t d = 0; d < EMBER_POOL_DIMS; d++) {
        const int32_t in = pool->in[d];
        const int32_t most = !adaptive           ? pool->kernel[d]
                             : pool->out[d] == 0 ? 0
                                                 : in / pool->out[d] + 2;
        taps *= (uint32_t)(most < in ? most : in);
    }
    return taps;
}

// Reads the side of the windows' results: the output, or the given gradient.
static ember_status_t set_results(ember_pool_t *pool, ember_node_t *node,
                                  const ember_pool_args_t *args, uint32_t rank) {
    int32_t sizes[EMBER_POOL_DIMS + 2] = {pool->batches, pool->channels};
    const uint32_t skipped = args->dims + 2 - rank;
    ember_tensor_t y;
    ember_view_t view;

    memcpy(sizes + 2, pool->out + EMBER_POOL_DIMS - args->dims,
           args->dims * sizeof(sizes[0]));
    if (args->gradient) {
        ember_node_tensor(node, 0, &y);
        if (y.rank != rank || memcmp(y.sizes, sizes + skipped, rank * 4) != 0) {
            return ember_node_fail(node, EMBER_BAD_PROGRAM,
                                   "pool: wrong shape of gradient");
        }
    } else {
        ember_node_output(node, args->out, rank, sizes + skipped, &y);
    }
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (y.dtype != pool->dtype || y.dtype == EMBER_B1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "pool: dtype");
    }
    ember_view_tensor(&view, &y);
    as_volumes(&view, args->dims);
    pool->y = y.data;
    memcpy(pool->y_steps, view.strides, sizeof(pool->y_steps));
    const uint32_t taps = taps_of(pool, args->kernel == 0);
    ember_node_work(node, y.numel, taps);
    ember_node_work(node, y.numel,
                    args->kernel == 0 ? CUTTING_STEPS : EMBER_STEPS_RESULT);
    if (args->gradient) { // elements are added one by one
        for (uint32_t i = 1; i < EMBER_STEPS_ANY; i++) { // 64 bits hold no product
            ember_node_work(node, y.numel, taps);
        }
    }
    if (y.numel == 0 && !args->gradient) { // nothing to do, whichever size is 0
        pool->batches = 0;
    }
    return EMBER_OK;
}

ember_status_t ember_pool_prepare(ember_pool_t *pool, ember_node_t *node,
                                  const ember_pool_args_t *args) {
    ember_tensor_t tensor;
    ember_view_t x;

    ember_node_tensor(node, args->gradient ? 1 : 0, &tensor);
    if (args->gradient) {
        const ember_tensor_t like = tensor;
        ember_node_output_like(node, args->out, &like, &tensor);
    }
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const uint32_t rank = tensor.rank;
    if (rank != args->dims + 1u && rank != args->dims + 2u) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "pool: rank");
    }
    ember_view_tensor(&x, &tensor);
    as_volumes(&x, args->dims);
    pool->x = x.data;
    pool->dtype = x.dtype;
    pool->batches = x.sizes[0];
    pool->channels = x.sizes[1];
    memcpy(pool->in, x.sizes + 2, sizeof(pool->in));
    memcpy(pool->x_steps, x.strides, sizeof(pool->x_steps));
    // A plane without elements has no window.
    if (pool->in[0] == 0 || pool->in[1] == 0 || pool->in[2] == 0 ||
        !set_lengths(pool, node, args)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "pool: sizes or parameters do not fit");
    }
    return set_results(pool, node, args, rank);
}
