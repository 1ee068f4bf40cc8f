// SPDX-License-Identifier: Apache-2.0
// Rows of float32 for the reduction engine.
#include "kernels/engine/reduce.h"

static void load(const ember_reduce_t *s, void *to, const void *from, int32_t step,
                 uint32_t count) {
    const char *at = from;
    float *y = to;
    (void)s;
    for (uint32_t i = 0; i < count; i++, at += step) {
        y[i] = *(const float *)(const void *)at;
    }
}

static void store(const ember_reduce_t *s, ember_sum_t *sum, char *value, char *index) {
    (void)s;
    (void)index;
    *(float *)(void *)value = sum->value.f32;
}

const ember_reduce_io_t ember_reduce_floats = {load, store};
