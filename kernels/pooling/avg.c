// SPDX-License-Identifier: Apache-2.0
// Average pools. Contract: avg.h.
#include "kernels/pooling/avg.h"

enum { X, KERNEL, STRIDE, PADDING, CEIL, COUNT_PADDING, DIVISOR, OUT };

ember_status_t ember_avg_prepare(ember_avg_pool_t *avg, ember_node_t *node,
                                 uint32_t dims, bool gradient) {
    const uint8_t more = gradient ? 1 : 0; // arguments before the kernel
    const ember_pool_args_t args = {.dims = (uint8_t)dims,
                                    .kernel = (uint8_t)(KERNEL + more),
                                    .stride = (uint8_t)(STRIDE + more),
                                    .padding = (uint8_t)(PADDING + more),
                                    .ceil_mode = (uint8_t)(CEIL + more),
                                    .out = (uint8_t)(OUT + more),
                                    .gradient = gradient};
    const uint32_t divisor = DIVISOR + more;

    avg->count_padding = ember_node_bool(node, COUNT_PADDING + more);
    avg->divisor = 0;
    if (ember_node_kind(node, divisor) != EMBER_NONE) {
        avg->divisor = ember_node_int_in(node, divisor, -INT32_MAX, INT32_MAX);
        if (avg->divisor == 0) {
            return ember_node_fail(node, EMBER_BAD_PROGRAM, "avg_pool: divisor 0");
        }
    }
    return ember_pool_prepare(&avg->pool, node, &args);
}

int64_t ember_avg_window(const ember_avg_pool_t *avg, const int32_t at[EMBER_POOL_DIMS],
                         ember_pool_box_t *box) {
    const ember_pool_t *pool = &avg->pool;
    int64_t padded = 1; // elements of the window, including padding

    for (uint32_t d = 0; d < EMBER_POOL_DIMS; d++) {
        const int32_t start = at[d] * pool->stride[d] - pool->padding[d];
        const int32_t limit = pool->in[d] + pool->padding[d];
        const int32_t end =
            pool->kernel[d] < limit - start ? start + pool->kernel[d] : limit;
        box->first[d] = start < 0 ? 0 : start;
        box->past[d] = end < pool->in[d] ? end : pool->in[d];
        padded *= end - start;
    }
    const int64_t inside = ember_pool_volume(box);
    if (inside == 0) {
        return 0;
    }
    return avg->divisor != 0 ? avg->divisor : avg->count_padding ? padded : inside;
}

ember_number_t ember_avg_of(const ember_avg_pool_t *avg, ember_number_t sum,
                            int64_t divisor) {
    const ember_class_t class = ember_class_of(avg->pool.dtype);

    if (class == EMBER_CLASS_F32) {
        sum.f32 /= (float)divisor;
    } else if (class == EMBER_CLASS_F64) {
        sum.f64 /= (double)divisor;
    } else { // negation wraps where the quotient would overflow
        sum.s64 = divisor == -1 ? (int64_t)(0 - (uint64_t)sum.s64) : sum.s64 / divisor;
    }
    return sum;
}

static void one(const void *state, char *x, char *y,
                const int32_t at[EMBER_POOL_DIMS]) {
    const ember_avg_pool_t *s = state;
    const ember_class_t class = ember_class_of(s->pool.dtype);
    ember_pool_box_t box;
    const int64_t divisor = ember_avg_window(s, at, &box);
    ember_number_t mean = ember_pool_sum(&s->pool, x, &box);

    if (divisor != 0) {
        mean = ember_avg_of(s, mean, divisor);
    }
    ember_elements_store(class, &mean, s->pool.dtype, y, 0, 1);
}

int32_t ember_avg_run(void *avg) {
    ember_pool_each(&((const ember_avg_pool_t *)avg)->pool, one, avg);
    return EMBER_OK;
}
