// SPDX-License-Identifier: Apache-2.0
// What pools compute over windows. Contract: pool.h.
#include <string.h>

#include "kernels/engine/axis.h"
#include "kernels/engine/index.h"
#include "kernels/pooling/pool.h"

enum { CHUNK = 16 };

static void each_of_volume(const ember_pool_t *pool, ember_pool_fn one,
                           const void *state, char *x, char *y) {
    int32_t at[EMBER_POOL_DIMS];

    for (at[0] = 0; at[0] < pool->out[0]; at[0]++) {
        for (at[1] = 0; at[1] < pool->out[1]; at[1]++) {
            char *row = y + (ptrdiff_t)at[0] * pool->y_steps[2] +
                        (ptrdiff_t)at[1] * pool->y_steps[3];
            for (at[2] = 0; at[2] < pool->out[2]; at[2]++) {
                one(state, x, row, at);
                row += pool->y_steps[4];
            }
        }
    }
}

void ember_pool_each(const ember_pool_t *pool, ember_pool_fn one, const void *state) {
    for (int32_t n = 0; n < pool->batches; n++) {
        for (int32_t c = 0; c < pool->channels; c++) {
            each_of_volume(pool, one, state,
                           pool->x + (ptrdiff_t)n * pool->x_steps[0] +
                               (ptrdiff_t)c * pool->x_steps[1],
                           pool->y + (ptrdiff_t)n * pool->y_steps[0] +
                               (ptrdiff_t)c * pool->y_steps[1]);
        }
    }
}

ember_pool_box_t ember_pool_adaptive(const ember_pool_t *pool,
                                     const int32_t at[EMBER_POOL_DIMS]) {
    ember_pool_box_t box;

    for (uint32_t d = 0; d < EMBER_POOL_DIMS; d++) {
        const int64_t end = (int64_t)(at[d] + 1) * pool->in[d];
        box.first[d] = (int32_t)((int64_t)at[d] * pool->in[d] / pool->out[d]);
        box.past[d] = (int32_t)((end + pool->out[d] - 1) / pool->out[d]);
    }
    return box;
}

int64_t ember_pool_volume(const ember_pool_box_t *box) {
    int64_t volume = 1;

    for (uint32_t d = 0; d < EMBER_POOL_DIMS; d++) {
        const int32_t length = box->past[d] - box->first[d];
        volume *= length > 0 ? length : 0;
    }
    return volume;
}

static void add_chunk(ember_class_t class, ember_number_t *sum, const void *numbers,
                      uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (class == EMBER_CLASS_F32) {
            sum->f32 += ((const float *)numbers)[i];
        } else if (class == EMBER_CLASS_F64) {
            sum->f64 += ((const double *)numbers)[i];
        } else {
            sum->s64 =
                (int64_t)((uint64_t)sum->s64 + (uint64_t)((const int64_t *)numbers)[i]);
        }
    }
}

static void add_row(const ember_pool_t *pool, ember_number_t *sum, const char *row,
                    int32_t length) {
    const ember_class_t class = ember_class_of(pool->dtype);
    const int32_t step = pool->x_steps[4];
    int64_t numbers[CHUNK];

    for (int32_t done = 0; done < length; done += CHUNK) {
        const int32_t rest = length - done;
        const uint32_t count = (uint32_t)(rest < CHUNK ? rest : CHUNK);
        ember_elements_load(class, numbers, pool->dtype, row + (ptrdiff_t)done * step,
                            step, count);
        add_chunk(class, sum, numbers, count);
    }
}

// Where row (d, h) of the box begins.
static ptrdiff_t row_at(const ember_pool_t *pool, const ember_pool_box_t *box,
                        int32_t d, int32_t h) {
    return (ptrdiff_t)d * pool->x_steps[2] + (ptrdiff_t)h * pool->x_steps[3] +
           (ptrdiff_t)box->first[2] * pool->x_steps[4];
}

ember_number_t ember_pool_sum(const ember_pool_t *pool, const char *x,
                              const ember_pool_box_t *box) {
    ember_number_t sum;

    memset(&sum, 0, sizeof(sum));
    for (int32_t d = box->first[0]; d < box->past[0]; d++) {
        for (int32_t h = box->first[1]; h < box->past[1]; h++) {
            add_row(pool, &sum, x + row_at(pool, box, d, h),
                    box->past[2] - box->first[2]);
        }
    }
    return sum;
}

void ember_pool_clear(const ember_pool_t *pool) {
    size_t bytes = (size_t)pool->batches * (uint32_t)pool->channels *
                   ember_dtype_size(pool->dtype);

    for (uint32_t d = 0; d < EMBER_POOL_DIMS; d++) {
        bytes *= (uint32_t)pool->in[d];
    }
    if (bytes > 0) {
        memset(pool->x, 0, bytes);
    }
}

void ember_pool_add(const ember_pool_t *pool, char *x, const ember_pool_box_t *box,
                    ember_number_t number) {
    int64_t element;
    ember_elements_store(ember_class_of(pool->dtype), &number, pool->dtype, &element, 0,
                         1);
    for (int32_t d = box->first[0]; d < box->past[0]; d++) {
        for (int32_t h = box->first[1]; h < box->past[1]; h++) {
            char *at = x + row_at(pool, box, d, h);
            for (int32_t w = box->first[2]; w < box->past[2]; w++) {
                ember_elements_add(at, (const char *)&element, pool->dtype, 1);
                at += pool->x_steps[4];
            }
        }
    }
}
