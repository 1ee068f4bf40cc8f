// SPDX-License-Identifier: Apache-2.0
// avg_pool2d_backward: each gradient is shared out over the window that it came from.
#include "kernels/engine/axis.h"
#include "kernels/pooling/avg.h"

static void one(const void *state, char *x, char *y,
                const int32_t at[EMBER_POOL_DIMS]) {
    const ember_avg_pool_t *s = state;
    ember_pool_box_t box;
    const int64_t divisor = ember_avg_window(s, at, &box);

    if (divisor != 0) {
        ember_pool_add(&s->pool, x, &box,
                       ember_load_double(s->pool.dtype, y) / (double)divisor);
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_avg_pool_t *s = state;
    const ember_status_t status = ember_avg_prepare(state, node, 2, true);

    if (status == EMBER_OK && ember_class_of(s->pool.dtype) == EMBER_CLASS_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "avg_pool: of integers");
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
