// SPDX-License-Identifier: Apache-2.0
// max_pool2d_with_indices: the largest element of each window (a NaN counts as such)
// and its index in the plane.
#include "kernels/pooling/pool.h"

enum { X, KERNEL, STRIDE, PADDING, DILATION, CEIL, OUT, INDICES };

typedef struct {
    ember_pool_t pool;
    char *indices; // int64, laid out as y is
} state_t;

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

// The first tap at or after `at` that is not left of the image.
static int32_t inside(int32_t at, int32_t dilation) {
    return at < 0 ? at + (-at + dilation - 1) / dilation * dilation : at;
}

static int32_t end_of(const ember_pool_t *pool, uint32_t d, int32_t start) {
    const int32_t end = start + (pool->kernel[d] - 1) * pool->dilation[d] + 1;
    return end < pool->in[d] ? end : pool->in[d];
}

static void one(const void *state, const char *x, char *y, int32_t h, int32_t w) {
    const state_t *s = state;
    const ember_pool_t *pool = &s->pool;
    const ember_class_t class = ember_class_of(pool->dtype);
    const int32_t up = h * pool->stride[0] - pool->padding[0];
    const int32_t across = w * pool->stride[1] - pool->padding[1];
    const int32_t bottom = end_of(pool, 0, up);
    const int32_t right = end_of(pool, 1, across);
    const int32_t top = inside(up, pool->dilation[0]);
    const int32_t left = inside(across, pool->dilation[1]);
    best_t best = start_of(
        class, (int32_t)((uint32_t)top * (uint32_t)pool->in[1] + (uint32_t)left));

    for (int32_t i = top; i < bottom; i += pool->dilation[0]) {
        for (int32_t j = left; j < right; j += pool->dilation[1]) {
            ember_number_t value;
            ember_elements_load(class, &value, pool->dtype,
                                x + (ptrdiff_t)i * pool->x_steps[2] +
                                    (ptrdiff_t)j * pool->x_steps[3],
                                0, 1);
            if (is_better(class, value, best.value)) {
                best = (best_t){value, i * pool->in[1] + j};
            }
        }
    }
    ember_elements_store(class, &best.value, pool->dtype, y, 0, 1);
    const ptrdiff_t at = (y - pool->y) / (ptrdiff_t)ember_dtype_size(pool->dtype);
    *(int64_t *)(void *)(s->indices + at * (ptrdiff_t)sizeof(int64_t)) = best.index;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_pool_args_t args = {.kernel = KERNEL,
                                    .stride = STRIDE,
                                    .padding = PADDING,
                                    .dilation = DILATION,
                                    .ceil_mode = CEIL,
                                    .out = OUT};
    state_t *s = state;
    ember_tensor_t out, indices;
    const ember_status_t status = ember_pool_prepare(&s->pool, node, &args);

    if (status != EMBER_OK) {
        return status;
    }
    ember_node_inout(node, OUT, &out);
    ember_node_output_like(node, INDICES, &out, &indices);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (indices.dtype != EMBER_S64 || !ember_tensor_same_layout(&out, &indices)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "max_pool2d: layout of indices");
    }
    s->indices = indices.data;
    return EMBER_OK;
}

static int32_t run(void *state) {
    ember_pool_each(&((const state_t *)state)->pool, one, state);
    return EMBER_OK;
}

EMBER_KERNEL(max_pool2d_with_indices, state_t);
