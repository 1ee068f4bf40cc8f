// SPDX-License-Identifier: Apache-2.0
// Max pools: the largest element of each window (a NaN counts as such) and its index.
// Contract: max.h.
#include "kernels/pooling/max.h"

enum { X, KERNEL, STRIDE, PADDING, DILATION, CEIL, OUT, INDICES };

ember_status_t ember_max_prepare(ember_max_pool_t *max, ember_node_t *node,
                                 uint32_t dims) {
    const ember_pool_args_t args = {.dims = (uint8_t)dims,
                                    .kernel = KERNEL,
                                    .stride = STRIDE,
                                    .padding = PADDING,
                                    .dilation = DILATION,
                                    .ceil_mode = CEIL,
                                    .out = OUT};
    ember_tensor_t out, indices;
    const ember_status_t status = ember_pool_prepare(&max->pool, node, &args);

    if (status != EMBER_OK) {
        return status;
    }
    ember_node_inout(node, OUT, &out);
    ember_node_output_like(node, INDICES, &out, &indices);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (indices.dtype != EMBER_S64 || !ember_tensor_same_layout(&out, &indices)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "max_pool: layout of indices");
    }
    max->indices = indices.data;
    return EMBER_OK;
}

ember_pool_box_t ember_max_window(const ember_pool_t *pool,
                                  const int32_t at[EMBER_POOL_DIMS]) {
    ember_pool_box_t box;

    for (uint32_t d = 0; d < EMBER_POOL_DIMS; d++) {
        const int32_t dilation = pool->dilation[d];
        const int32_t start = at[d] * pool->stride[d] - pool->padding[d];
        const int32_t end = start + (pool->kernel[d] - 1) * dilation + 1;
        // The first tap that is not before the image.
        box.first[d] =
            start < 0 ? start + (-start + dilation - 1) / dilation * dilation : start;
        box.past[d] = end < pool->in[d] ? end : pool->in[d];
    }
    return box;
}

int32_t ember_max_index(const ember_pool_t *pool, int32_t d, int32_t h, int32_t w) {
    const uint32_t row = (uint32_t)d * (uint32_t)pool->in[1] + (uint32_t)h;
    return (int32_t)(row * (uint32_t)pool->in[2] + (uint32_t)w);
}

void ember_max_store(const ember_max_pool_t *max, const char *y, int32_t index) {
    const ptrdiff_t at =
        (y - max->pool.y) / (ptrdiff_t)ember_dtype_size(max->pool.dtype);

    *(int64_t *)(void *)(max->indices + at * (ptrdiff_t)sizeof(int64_t)) = index;
}

typedef struct {
    ember_number_t value;
    int32_t index;
} best_t;

static best_t start_of(ember_class_t class, int32_t index) {
    best_t best = {.index = index};

    if (class == EMBER_CLASS_F32) {
        best.value.f32 = -__builtin_inff();
    } else if (class == EMBER_CLASS_F64) {
        best.value.f64 = -__builtin_inf();
    } else {
        best.value.s64 = INT64_MIN;
    }
    return best;
}

// The only number that differs from itself is NaN.
static bool is_better(ember_class_t class, ember_number_t value, ember_number_t best) {
    if (class == EMBER_CLASS_F32) {
        return value.f32 > best.f32 || value.f32 != value.f32;
    }
    if (class == EMBER_CLASS_F64) {
        return value.f64 > best.f64 || value.f64 != value.f64;
    }
    return value.s64 > best.s64;
}

// Looks through row (d, h) of a window.
static void take_row(const ember_pool_t *pool, const ember_pool_box_t *box,
                     const char *x, int32_t d, int32_t h, best_t *best) {
    const ember_class_t class = ember_class_of(pool->dtype);
    const char *row =
        x + (ptrdiff_t)d * pool->x_steps[2] + (ptrdiff_t)h * pool->x_steps[3];

    for (int32_t w = box->first[2]; w < box->past[2]; w += pool->dilation[2]) {
        ember_number_t value;
        ember_elements_load(class, &value, pool->dtype,
                            row + (ptrdiff_t)w * pool->x_steps[4], 0, 1);
        if (is_better(class, value, best->value)) {
            *best = (best_t){value, ember_max_index(pool, d, h, w)};
        }
    }
}

static void one(const void *state, char *x, char *y,
                const int32_t at[EMBER_POOL_DIMS]) {
    const ember_max_pool_t *s = state;
    const ember_pool_t *pool = &s->pool;
    const ember_class_t class = ember_class_of(pool->dtype);
    const ember_pool_box_t box = ember_max_window(pool, at);
    best_t best = start_of(
        class, ember_max_index(pool, box.first[0], box.first[1], box.first[2]));

    for (int32_t d = box.first[0]; d < box.past[0]; d += pool->dilation[0]) {
        for (int32_t h = box.first[1]; h < box.past[1]; h += pool->dilation[1]) {
            take_row(pool, &box, x, d, h, &best);
        }
    }
    ember_elements_store(class, &best.value, pool->dtype, y, 0, 1);
    ember_max_store(s, y, best.index);
}

int32_t ember_max_run(void *max) {
    ember_pool_each(&((const ember_max_pool_t *)max)->pool, one, max);
    return EMBER_OK;
}
