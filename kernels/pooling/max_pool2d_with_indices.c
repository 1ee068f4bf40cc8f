// SPDX-License-Identifier: Apache-2.0
// max_pool2d_with_indices: the largest element of each window (a NaN counts as such)
// and its index in the plane; every dtype.
#include "kernels/pooling/max.h"

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

static void one(const void *state, const char *x, char *y, int32_t h, int32_t w) {
    const ember_max_pool_t *s = state;
    const ember_pool_t *pool = &s->pool;
    const ember_class_t class = ember_class_of(pool->dtype);
    const ember_max_range_t rows = ember_max_range(pool, 0, h);
    const ember_max_range_t columns = ember_max_range(pool, 1, w);
    const uint32_t first = (uint32_t)rows.first * (uint32_t)pool->in[1];
    best_t best = start_of(class, (int32_t)(first + (uint32_t)columns.first));

    for (int32_t i = rows.first; i < rows.past; i += pool->dilation[0]) {
        for (int32_t j = columns.first; j < columns.past; j += pool->dilation[1]) {
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
    ember_max_store(s, y, best.index);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_max_prepare(state, node);
}

static int32_t run(void *state) {
    ember_pool_each(&((const ember_max_pool_t *)state)->pool, one, state);
    return EMBER_OK;
}

EMBER_KERNEL(max_pool2d_with_indices, ember_max_pool_t);
