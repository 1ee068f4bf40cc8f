// SPDX-License-Identifier: Apache-2.0
// Windows of int8 images. Contract: pool_s8.h.
#include "kernels/engine/int8/pool_s8.h"

#include "kernels/engine/windows.h"

enum { X, KERNEL, STRIDE, PADDING };
enum { LIMIT = EMBER_POOL_S8_LIMIT };

void ember_pool_s8_pair(ember_node_t *node, uint32_t arg, int32_t low, int32_t *pair) {
    int32_t items[2] = {low, low};
    const uint32_t count = ember_node_ints(node, arg, items, 2);
    pair[0] = items[0];
    pair[1] = items[count == 2 ? 1 : 0];
    const bool bad = count == 0 || pair[0] < low || pair[1] < low;
    if (bad || pair[0] > LIMIT || pair[1] > LIMIT) {
        ember_node_fail(node, bad ? EMBER_BAD_PROGRAM : EMBER_UNSUPPORTED,
                        "pool: bad parameter");
        pair[0] = low;
        pair[1] = low;
    }
}

// Windows along a dimension; -1 if the parameters do not fit: padding is at most half a
// window, so that each one contains a part of the image.
static int32_t windows(const ember_pool_s8_t *pool, const ember_tensor_t *x, uint32_t d,
                       bool ceil) {
    const int32_t size = x->sizes[2 + d];
    if (size < 1 || size > LIMIT || pool->padding[d] > pool->kernel[d] / 2) {
        return -1;
    }
    return (int32_t)ember_windows(size, pool->kernel[d], pool->stride[d],
                                  pool->padding[d], ceil);
}

// Elements have `size` bytes.
static void image_of(ember_image_s8_t *image, const ember_tensor_t *tensor,
                     int32_t size) {
    int32_t strides[EMBER_MAX_RANK];
    ember_tensor_strides(tensor, strides);
    image->height = tensor->sizes[2];
    image->width = tensor->sizes[3];
    image->batch = strides[0] * size;
    image->channel = (tensor->sizes[1] == 1 ? 1 : strides[1]) * size;
    image->row = strides[2] * size;
    image->column = strides[3] * size;
}

// The most elements of a window: what is outside the image is skipped.
static uint32_t taps_of(const ember_pool_s8_t *pool, const ember_tensor_t *x) {
    uint32_t taps = 1;
    for (uint32_t d = 0; d < 2; d++) {
        const int32_t size = x->sizes[2 + d];
        taps *= (uint32_t)(pool->kernel[d] < size ? pool->kernel[d] : size);
    }
    return taps;
}

static ember_status_t read(ember_node_t *node, ember_pool_s8_t *pool, bool ceil,
                           uint32_t out, ember_dtype_t dtype) {
    ember_tensor_t x;
    ember_tensor_t y;
    int32_t sizes[4];

    ember_node_tensor(node, X, &x);
    ember_pool_s8_pair(node, KERNEL, 1, pool->kernel);
    ember_pool_s8_pair(node, STRIDE, 1, pool->stride);
    ember_pool_s8_pair(node, PADDING, 0, pool->padding);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.rank != 4) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "pool: not of 4 dimensions");
    }
    for (uint32_t d = 0; d < 2; d++) {
        sizes[d] = x.sizes[d];
        sizes[2 + d] = windows(pool, &x, d, ceil);
    }
    if (sizes[2] < 0 || sizes[3] < 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "pool: sizes or parameters do not fit");
    }
    ember_node_output(node, out, 4, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.dtype != dtype || y.dtype != dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "pool: dtype");
    }
    ember_node_work(node, y.numel, taps_of(pool, &x) + EMBER_STEPS_RESULT);
    pool->x = x.data;
    pool->y = y.data;
    pool->batches = y.numel > 0 ? sizes[0] : 0;
    pool->channels = sizes[1];
    const int32_t size = (int32_t)ember_dtype_size(dtype);
    image_of(&pool->in, &x, size);
    image_of(&pool->out, &y, size);
    return EMBER_OK;
}

ember_status_t ember_pool_s8_prepare(ember_node_t *node, ember_pool_s8_t *pool,
                                     bool ceil, uint32_t out) {
    return read(node, pool, ceil, out, EMBER_S8);
}

ember_status_t ember_pool_s16_prepare(ember_node_t *node, ember_pool_s8_t *pool,
                                      uint32_t out) {
    return read(node, pool, false, out, EMBER_S16);
}

int32_t ember_pool_s8_cut(const ember_pool_s8_t *pool, uint32_t d, int32_t at,
                          int32_t *first) {
    const int32_t size = d == 0 ? pool->in.height : pool->in.width;
    const int32_t start = at * pool->stride[d] - pool->padding[d];
    const int32_t past = start + pool->kernel[d];
    *first = start > 0 ? start : 0;
    return (past < size ? past : size) - *first;
}

static void run_row(const ember_pool_s8_t *pool, ember_pool_s8_fn one,
                    const void *state, const int8_t *x, int8_t *y, int32_t rows) {
    ember_window_s8_t window = {.rows = rows};
    int32_t first;

    for (int32_t i = 0; i < pool->out.width; i++) {
        window.columns = ember_pool_s8_cut(pool, 1, i, &first);
        window.x = x + first * pool->in.column;
        one(state, window, y);
        y += pool->out.column;
    }
}

void ember_pool_s8_run(const ember_pool_s8_t *pool, ember_pool_s8_fn one,
                       const void *state) {
    int32_t first;

    for (int32_t n = 0; n < pool->batches; n++) {
        for (int32_t i = 0; i < pool->out.height; i++) {
            const int32_t rows = ember_pool_s8_cut(pool, 0, i, &first);
            run_row(pool, one, state,
                    pool->x + n * pool->in.batch + first * pool->in.row,
                    pool->y + n * pool->out.batch + i * pool->out.row, rows);
        }
    }
}
