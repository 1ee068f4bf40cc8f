// SPDX-License-Identifier: Apache-2.0
// avg_pool2d_backward: distributes each gradient over the window that it came from.
#include "kernels/pooling/avg.h"

static void one(const void *state, char *x, char *y,
                const int32_t at[EMBER_POOL_DIMS]) {
    const ember_avg_pool_t *s = state;
    ember_pool_box_t box;
    const int64_t divisor = ember_avg_window(s, at, &box);
    ember_number_t gradient;

    if (divisor != 0) {
        ember_elements_load(ember_class_of(s->pool.dtype), &gradient, s->pool.dtype, y,
                            0, 1);
        ember_pool_add(&s->pool, x, &box, ember_avg_of(s, gradient, divisor));
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_avg_pool_t *s = state;
    const ember_status_t status = ember_avg_prepare(state, node, 2, true);

    if (status == EMBER_OK && s->pool.dtype != EMBER_S64 &&
        ember_class_of(s->pool.dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "avg_pool: of integers, only int64 is supported");
    }
    return status;
}

static int32_t run(void *state) {
    const ember_avg_pool_t *s = state;

    ember_pool_clear(&s->pool);
    ember_pool_each(&s->pool, one, s);
    return EMBER_OK;
}

EMBER_KERNEL(avg_pool2d_backward, ember_avg_pool_t);
