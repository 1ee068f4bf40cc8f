// SPDX-License-Identifier: Apache-2.0
// avg_pool2d: means of windows, every dtype.
#include "kernels/pooling/avg.h"

static void one(const void *state, const char *x, char *y, int32_t h, int32_t w) {
    const ember_avg_pool_t *s = state;
    const ember_class_t class = ember_class_of(s->pool.dtype);
    const ember_pool_range_t rows = ember_avg_range(&s->pool, 0, h);
    const ember_pool_range_t columns = ember_avg_range(&s->pool, 1, w);
    ember_number_t mean =
        ember_pool_sum(&s->pool, x, rows.first, rows.past, columns.first, columns.past);

    // A window that lies in the padding alone gives 0.
    if (rows.first < rows.past && columns.first < columns.past) {
        const int64_t divisor = ember_avg_divisor(s, rows, columns);
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
    return ember_avg_prepare(state, node);
}

static int32_t run(void *state) {
    ember_pool_each(&((const ember_avg_pool_t *)state)->pool, one, state);
    return EMBER_OK;
}

EMBER_KERNEL(avg_pool2d, ember_avg_pool_t);
