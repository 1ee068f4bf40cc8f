// SPDX-License-Identifier: Apache-2.0
// avg_pool2d: means of windows. The divisor is given, or the size of the window with
// or without the padding it covers.
#include "kernels/pooling/pool.h"

enum { X, KERNEL, STRIDE, PADDING, CEIL, COUNT_PADDING, DIVISOR, OUT };

typedef struct {
    ember_pool_t pool;
    int32_t divisor; // 0: none given
    bool count_padding;
} state_t;

typedef struct {
    int32_t first;
    int32_t past;
    int32_t padded; // length with the padding it covers
} range_t;

static range_t range_of(const ember_pool_t *pool, uint32_t d, int32_t at) {
    const int32_t start = at * pool->stride[d] - pool->padding[d];
    const int32_t limit = pool->in[d] + pool->padding[d];
    const int32_t end =
        pool->kernel[d] < limit - start ? start + pool->kernel[d] : limit;

    return (range_t){
        .first = start < 0 ? 0 : start,
        .past = end < pool->in[d] ? end : pool->in[d],
        .padded = end - start,
    };
}

static int64_t divisor_of(const state_t *s, range_t rows, range_t columns) {
    if (s->divisor != 0) {
        return s->divisor;
    }
    if (s->count_padding) {
        return (int64_t)rows.padded * columns.padded;
    }
    return (int64_t)(rows.past - rows.first) * (columns.past - columns.first);
}

static void one(const void *state, const char *x, char *y, int32_t h, int32_t w) {
    const state_t *s = state;
    const ember_class_t class = ember_class_of(s->pool.dtype);
    const range_t rows = range_of(&s->pool, 0, h);
    const range_t columns = range_of(&s->pool, 1, w);
    ember_number_t mean =
        ember_pool_sum(&s->pool, x, rows.first, rows.past, columns.first, columns.past);

    // A window that lies in the padding alone gives 0.
    if (rows.first < rows.past && columns.first < columns.past) {
        const int64_t divisor = divisor_of(s, rows, columns);
        if (class == EMBER_CLASS_F32) {
            mean.f32 /= (float)divisor;
        } else if (class == EMBER_CLASS_F64) {
            mean.f64 /= (double)divisor;
        } else { // negation wraps where the quotient would overflow
            mean.s64 =
                divisor == -1 ? (int64_t)(0 - (uint64_t)mean.s64) : mean.s64 / divisor;
        }
    }
    ember_elements_store(class, &mean, s->pool.dtype, y, 0, 1);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_pool_args_t args = {.kernel = KERNEL,
                                    .stride = STRIDE,
                                    .padding = PADDING,
                                    .ceil_mode = CEIL,
                                    .out = OUT};
    state_t *s = state;

    s->count_padding = ember_node_bool(node, COUNT_PADDING);
    s->divisor = 0;
    if (ember_node_kind(node, DIVISOR) != EMBER_NONE) {
        s->divisor = ember_node_int_in(node, DIVISOR, -INT32_MAX, INT32_MAX);
        if (s->divisor == 0) {
            return ember_node_fail(node, EMBER_BAD_PROGRAM, "avg_pool2d: divisor 0");
        }
    }
    return ember_pool_prepare(&s->pool, node, &args);
}

static int32_t run(void *state) {
    ember_pool_each(&((const state_t *)state)->pool, one, state);
    return EMBER_OK;
}

EMBER_KERNEL(avg_pool2d, state_t);
