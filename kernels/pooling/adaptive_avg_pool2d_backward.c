// SPDX-License-Identifier: Apache-2.0
// adaptive_avg_pool2d_backward: distributes each gradient over the window that it came
// from.
#include "kernels/pooling/pool.h"

enum { GRADIENT, SELF, OUT };

static void one(const void *state, char *x, char *y,
                const int32_t at[EMBER_POOL_DIMS]) {
    const ember_pool_t *pool = state;
    const ember_pool_box_t box = ember_pool_adaptive(pool, at);
    ember_number_t share;

    ember_elements_load(ember_class_of(pool->dtype), &share, pool->dtype, y, 0, 1);
    if (pool->dtype == EMBER_F64) {
        share.f64 /= (double)ember_pool_volume(&box);
    } else {
        share.f32 /= (float)ember_pool_volume(&box);
    }
    ember_pool_add(pool, x, &box, share);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_pool_args_t args = {.dims = 2, .out = OUT, .gradient = true};
    const ember_pool_t *pool = state;
    const ember_status_t status = ember_pool_prepare(state, node, &args);

    if (status == EMBER_OK && ember_class_of(pool->dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "adaptive pool: integers are not supported");
    }
    return status;
}

static int32_t run(void *state) {
    ember_pool_clear(state);
    ember_pool_each(state, one, state);
    return EMBER_OK;
}

EMBER_KERNEL(adaptive_avg_pool2d_backward, ember_pool_t);
