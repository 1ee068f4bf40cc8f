// SPDX-License-Identifier: Apache-2.0
// Max pools: the largest element of each window (a NaN counts as such) and its index.
// Contract: max.h.
#include "kernels/pooling/max.h"

enum { X, KERNEL, STRIDE, PADDING, DILATION, CEIL, OUT };
enum { ADAPTIVE_SIZE = 1, ADAPTIVE_OUT };

// Reads the arguments of a pool and, behind its output, where the indices go.
static ember_status_t read_pool(ember_max_pool_t *max, ember_node_t *node,
                                const ember_pool_args_t *args) {
    const uint32_t at = args->out + 1u;
    ember_tensor_t out, indices;
    const ember_status_t status = ember_pool_prepare(&max->pool, node, args);

    if (status != EMBER_OK) {
        return status;
    }
    max->indices = NULL;
    if (ember_node_kind(node, at) == EMBER_NONE) {
        return EMBER_OK;
    }
    ember_node_inout(node, args->out, &out);
    ember_node_output_like(node, at, &out, &indices);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (indices.dtype != EMBER_S64 || !ember_tensor_same_layout(&out, &indices)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "max_pool: wrong layout of indices");
    }
    max->indices = indices.data;
    return EMBER_OK;
}

ember_status_t ember_max_prepare(ember_max_pool_t *max, ember_node_t *node,
                                 uint32_t dims) {
    const ember_pool_args_t args = {.dims = (uint8_t)dims,
                                    .kernel = KERNEL,
                                    .stride = STRIDE,
                                    .padding = PADDING,
                                    .dilation = DILATION,
                                    .ceil_mode = CEIL,
                                    .out = OUT};
    return read_pool(max, node, &args);
}

ember_status_t ember_max_prepare_adaptive(ember_max_pool_t *max, ember_node_t *node,
                                          uint32_t dims) {
    const ember_pool_args_t args = {
        .dims = (uint8_t)dims, .size = ADAPTIVE_SIZE, .out = ADAPTIVE_OUT};
    const ember_status_t status = read_pool(max, node, &args);

    for (uint32_t d = 0; d < EMBER_POOL_DIMS; d++) {
        max->pool.dilation[d] = 1;
    }
    if (status == EMBER_OK && ember_class_of(max->pool.dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "adaptive pool: integers are not supported");
    }
    return status;
}

ember_status_t ember_max_prepare_f32(ember_max_pool_t *max, ember_node_t *node,
                                     bool indexed) {
    const ember_status_t status = ember_max_prepare(max, node, 2);

    if (status == EMBER_OK && max->pool.dtype != EMBER_F32) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "max_pool2d: not float32");
    }
    if (status == EMBER_OK && (max->indices != NULL) != indexed) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "max_pool2d: with or without indices");
    }
    return status;
}

ember_status_t ember_max_prepare_f32_rows(ember_max_pool_t *max, ember_node_t *node,
                                          bool indexed) {
    const ember_pool_t *pool = &max->pool;
    const ember_status_t status = ember_max_prepare_f32(max, node, indexed);

    if (status != EMBER_OK) {
        return status;
    }
    // Only then the first tap inside is at max(start, 0).
    const bool simple = pool->dilation[2] == 1 || pool->padding[2] == 0;
    if (!simple || pool->x_steps[4] != sizeof(float) ||
        pool->y_steps[4] != sizeof(float)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "max_pool2d: unsupported layout");
    }
    return EMBER_OK;
}

// The window of output `at`.
static ember_pool_box_t window_of(const ember_pool_t *pool,
                                  const int32_t at[EMBER_POOL_DIMS]) {
    ember_pool_box_t box;

    for (uint32_t d = 0; d < EMBER_POOL_DIMS; d++) {
        const ember_max_taps_t taps = ember_max_taps(pool, d, at[d]);
        box.first[d] = taps.first;
        box.past[d] = taps.past;
    }
    return box;
}

// The index of an element in its plane (or volume).
static int32_t index_of(const ember_pool_t *pool, int32_t d, int32_t h, int32_t w) {
    const uint32_t row = (uint32_t)d * (uint32_t)pool->in[1] + (uint32_t)h;
    return (int32_t)(row * (uint32_t)pool->in[2] + (uint32_t)w);
}

// The index of the output that is at `y`; NULL without indices.
static int64_t *index_at(const ember_max_pool_t *max, const char *y) {
    if (max->indices == NULL) {
        return NULL;
    }
    const ptrdiff_t at =
        (y - max->pool.y) / (ptrdiff_t)ember_dtype_size(max->pool.dtype);

    return (int64_t *)(void *)max->indices + at;
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

// Only NaN differs from itself.
static bool is_better(ember_class_t class, ember_number_t value, ember_number_t best) {
    if (class == EMBER_CLASS_F32) {
        return value.f32 > best.f32 || value.f32 != value.f32;
    }
    if (class == EMBER_CLASS_F64) {
        return value.f64 > best.f64 || value.f64 != value.f64;
    }
    return value.s64 > best.s64;
}

// Searches row (d, h) of a window.
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
            *best = (best_t){value, index_of(pool, d, h, w)};
        }
    }
}

// Writes the largest element of a window, and its index.
static void take_window(const ember_max_pool_t *s, const ember_pool_box_t *box,
                        const char *x, char *y) {
    const ember_pool_t *pool = &s->pool;
    const ember_class_t class = ember_class_of(pool->dtype);
    best_t best =
        start_of(class, index_of(pool, box->first[0], box->first[1], box->first[2]));

    for (int32_t d = box->first[0]; d < box->past[0]; d += pool->dilation[0]) {
        for (int32_t h = box->first[1]; h < box->past[1]; h += pool->dilation[1]) {
            take_row(pool, box, x, d, h, &best);
        }
    }
    ember_elements_store(class, &best.value, pool->dtype, y, 0, 1);
    int64_t *index = index_at(s, y);
    if (index != NULL) {
        *index = best.index;
    }
}

static void one(const void *state, char *x, char *y,
                const int32_t at[EMBER_POOL_DIMS]) {
    const ember_max_pool_t *s = state;
    const ember_pool_box_t box = window_of(&s->pool, at);
    take_window(s, &box, x, y);
}

static void one_adaptive(const void *state, char *x, char *y,
                         const int32_t at[EMBER_POOL_DIMS]) {
    const ember_max_pool_t *s = state;
    const ember_pool_box_t box = ember_pool_adaptive(&s->pool, at);
    take_window(s, &box, x, y);
}

int32_t ember_max_run(void *max) {
    ember_pool_each(&((const ember_max_pool_t *)max)->pool, one, max);
    return EMBER_OK;
}

int32_t ember_max_adaptive_run(void *max) {
    ember_pool_each(&((const ember_max_pool_t *)max)->pool, one_adaptive, max);
    return EMBER_OK;
}

static void rows_of_plane(const ember_max_pool_t *max, ember_max_row_fn row,
                          const char *x, char *y) {
    const ember_pool_t *pool = &max->pool;

    for (int32_t h = 0; h < pool->out[1]; h++) {
        row(max, x, y, index_at(max, y), ember_max_taps(pool, 1, h));
        y += pool->y_steps[3];
    }
}

void ember_max_rows(const ember_max_pool_t *max, ember_max_row_fn row) {
    const ember_pool_t *pool = &max->pool;

    for (int32_t n = 0; n < pool->batches; n++) {
        for (int32_t c = 0; c < pool->channels; c++) {
            rows_of_plane(max, row,
                          pool->x + (ptrdiff_t)n * pool->x_steps[0] +
                              (ptrdiff_t)c * pool->x_steps[1],
                          pool->y + (ptrdiff_t)n * pool->y_steps[0] +
                              (ptrdiff_t)c * pool->y_steps[1]);
        }
    }
}
