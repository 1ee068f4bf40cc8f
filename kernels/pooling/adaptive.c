// SPDX-License-Identifier: Apache-2.0
// Means of adaptive windows. Contract: adaptive.h.
#include "kernels/pooling/adaptive.h"

enum { SELF, SIZE, OUT };

static void one(const void *state, char *x, char *y,
                const int32_t at[EMBER_POOL_DIMS]) {
    const ember_pool_t *pool = state;
    const ember_class_t class = ember_class_of(pool->dtype);
    const ember_pool_box_t box = ember_pool_adaptive(pool, at);
    ember_number_t mean = ember_pool_sum(pool, x, &box);

    if (class == EMBER_CLASS_F32) {
        mean.f32 /= (float)ember_pool_volume(&box);
    } else {
        mean.f64 /= (double)ember_pool_volume(&box);
    }
    ember_elements_store(class, &mean, pool->dtype, y, 0, 1);
}

ember_status_t ember_adaptive_prepare(ember_node_t *node, ember_pool_t *pool,
                                      uint32_t dims) {
    const ember_pool_args_t args = {.dims = (uint8_t)dims, .size = SIZE, .out = OUT};
    const ember_status_t status = ember_pool_prepare(pool, node, &args);

    if (status == EMBER_OK && ember_class_of(pool->dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "adaptive pool: integers are not supported");
    }
    return status;
}

int32_t ember_adaptive_run(void *pool) {
    ember_pool_each(pool, one, pool);
    return EMBER_OK;
}
