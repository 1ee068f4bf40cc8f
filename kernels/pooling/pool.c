// SPDX-License-Identifier: Apache-2.0
// Two-dimensional pooling. Contract: pool.h.
#include "kernels/pooling/pool.h"

#include <string.h>

enum { CHUNK = 16 };

// Larger parameters than any tensor is long would only overflow sums.
enum { LIMIT = 1 << 28 };

// Reads one or two numbers in [low, LIMIT]; an empty list keeps what `items` has.
static void read_pair(ember_node_t *node, uint32_t arg, int32_t low, int32_t items[2]) {
    int32_t given[2];
    const uint32_t count = ember_node_ints(node, arg, given, 2);

    for (uint32_t d = 0; count > 0 && d < 2; d++) {
        items[d] = given[count == 1 ? 0 : d];
        if (items[d] < low || items[d] > LIMIT) {
            ember_node_fail(node, EMBER_BAD_PROGRAM, "pool: bad parameter");
        }
    }
}

static void read_windows(ember_pool_t *pool, ember_node_t *node,
                         const ember_pool_args_t *args) {
    for (uint32_t d = 0; d < 2; d++) {
        pool->padding[d] = 0;
        pool->dilation[d] = 1;
        pool->kernel[d] = 0;
    }
    read_pair(node, args->kernel, 1, pool->kernel);
    memcpy(pool->stride, pool->kernel, sizeof(pool->stride));
    read_pair(node, args->stride, 1, pool->stride);
    read_pair(node, args->padding, 0, pool->padding);
    if (args->dilation != 0) {
        read_pair(node, args->dilation, 1, pool->dilation);
    }
}

// Length of dimension `d` of the output; -1 when the parameters do not fit. As in
// ATen, padding is at most half a window, and with `ceil` the last window must
// start inside the input or its padding on the left.
static int64_t out_length(const ember_pool_t *pool, uint32_t d, bool ceil) {
    const int64_t in = pool->in[d];
    const int64_t window = pool->dilation[d] * ((int64_t)pool->kernel[d] - 1) + 1;
    const int64_t padding = pool->padding[d];
    const int64_t stride = pool->stride[d];
    const int64_t room = in + 2 * padding - window + (ceil ? stride - 1 : 0);

    if (pool->kernel[d] < 1 || stride < 1 || padding < 0 || window > LIMIT ||
        2 * padding > window || room < 0 || in > LIMIT) {
        return -1;
    }
    const int64_t length = room / stride + 1;
    return ceil && (length - 1) * stride >= in + padding ? length - 1 : length;
}

static bool set_lengths(ember_pool_t *pool, ember_node_t *node,
                        const ember_pool_args_t *args) {
    if (args->kernel == 0) {
        pool->out[0] = -1;
        read_pair(node, 1, 0, pool->out);
        return pool->out[0] >= 0 && pool->in[0] <= LIMIT && pool->in[1] <= LIMIT;
    }
    const bool ceil = ember_node_bool(node, args->ceil_mode);
    read_windows(pool, node, args);
    for (uint32_t d = 0; d < 2; d++) {
        const int64_t length = out_length(pool, d, ceil);
        if (length < 0 || length > LIMIT) {
            return false;
        }
        pool->out[d] = (int32_t)length;
    }
    return true;
}

// The output, of the input's rank; both as views of rank 4.
static ember_status_t set_output(ember_pool_t *pool, ember_node_t *node, uint32_t arg,
                                 uint32_t rank) {
    const int32_t sizes[4] = {pool->batches, pool->channels, pool->out[0],
                              pool->out[1]};
    ember_tensor_t y;
    ember_view_t view;

    ember_node_output(node, arg, rank, sizes + (4 - rank), &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (y.dtype != pool->dtype || y.dtype == EMBER_B1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "pool: dtype");
    }
    ember_view_tensor(&view, &y);
    if (rank == 3) {
        ember_view_insert(&view, 0, 1, 0);
    }
    pool->y = y.data;
    memcpy(pool->y_steps, view.strides, sizeof(pool->y_steps));
    if (y.numel == 0) { // nothing to do, whichever size is 0
        pool->batches = 0;
    }
    return EMBER_OK;
}

ember_status_t ember_pool_prepare(ember_pool_t *pool, ember_node_t *node,
                                  const ember_pool_args_t *args) {
    ember_view_t x;

    ember_view_arg(&x, node, 0);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const uint32_t rank = x.rank;
    if (rank != 3 && rank != 4) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "pool: rank");
    }
    if (rank == 3) {
        ember_view_insert(&x, 0, 1, 0);
    }
    pool->x = x.data;
    pool->dtype = x.dtype;
    pool->batches = x.sizes[0];
    pool->channels = x.sizes[1];
    memcpy(pool->in, x.sizes + 2, sizeof(pool->in));
    memcpy(pool->x_steps, x.strides, sizeof(pool->x_steps));
    // A plane without elements has no window.
    if (pool->in[0] == 0 || pool->in[1] == 0 || !set_lengths(pool, node, args)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "pool: sizes or parameters do not fit");
    }
    return set_output(pool, node, args->out, rank);
}

static void each_of_plane(const ember_pool_t *pool, ember_pool_fn one,
                          const void *state, const char *x, char *y) {
    for (int32_t h = 0; h < pool->out[0]; h++) {
        for (int32_t w = 0; w < pool->out[1]; w++) {
            one(state, x,
                y + (ptrdiff_t)h * pool->y_steps[2] + (ptrdiff_t)w * pool->y_steps[3],
                h, w);
        }
    }
}

void ember_pool_each(const ember_pool_t *pool, ember_pool_fn one, const void *state) {
    for (int32_t n = 0; n < pool->batches; n++) {
        for (int32_t c = 0; c < pool->channels; c++) {
            each_of_plane(pool, one, state,
                          pool->x + (ptrdiff_t)n * pool->x_steps[0] +
                              (ptrdiff_t)c * pool->x_steps[1],
                          pool->y + (ptrdiff_t)n * pool->y_steps[0] +
                              (ptrdiff_t)c * pool->y_steps[1]);
        }
    }
}

static void add_chunk(ember_class_t class, ember_number_t *sum, const void *numbers,
                      uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (class == EMBER_CLASS_F32) {
            sum->f32 += ((const float *)numbers)[i];
        } else if (class == EMBER_CLASS_F64) {
            sum->f64 += ((const double *)numbers)[i];
        } else {
            sum->s64 =
                (int64_t)((uint64_t)sum->s64 + (uint64_t)((const int64_t *)numbers)[i]);
        }
    }
}

ember_number_t ember_pool_sum(const ember_pool_t *pool, const char *x, int32_t top,
                              int32_t bottom, int32_t left, int32_t right) {
    const ember_class_t class = ember_class_of(pool->dtype);
    int64_t numbers[CHUNK];
    ember_number_t sum;

    memset(&sum, 0, sizeof(sum));
    for (int32_t h = top; h < bottom; h++) {
        for (int32_t w = left; w < right; w += CHUNK) {
            const int32_t rest = right - w;
            const uint32_t count = (uint32_t)(rest < CHUNK ? rest : CHUNK);
            ember_elements_load(class, numbers, pool->dtype,
                                x + (ptrdiff_t)h * pool->x_steps[2] +
                                    (ptrdiff_t)w * pool->x_steps[3],
                                pool->x_steps[3], count);
            add_chunk(class, &sum, numbers, count);
        }
    }
    return sum;
}
