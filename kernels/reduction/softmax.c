// SPDX-License-Identifier: Apache-2.0
// y = exp(x) / sum of exp(x) along one dimension, any dtype, computed in double.
// y may be x.
#include <math.h>

#include "kernels/engine/axis.h"

static void line(const ember_axis_t *s, size_t at) {
    double top = -(double)INFINITY;
    double sum = 0.0;
    const char *x = s->x + at * s->x_size;
    char *y = s->y + at * s->y_size;
    for (uint32_t i = 0; i < s->count; i++) {
        const size_t far = (size_t)i * s->inner;
        const double value = ember_load_double(s->x_dtype, x + far * s->x_size);
        top = value > top ? value : top;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const size_t far = (size_t)i * s->inner;
        sum += exp(ember_load_double(s->x_dtype, x + far * s->x_size) - top);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const size_t far = (size_t)i * s->inner;
        const double value = ember_load_double(s->x_dtype, x + far * s->x_size);
        ember_store_double(s->y_dtype, y + far * s->y_size, exp(value - top) / sum);
    }
}

static int32_t run(void *state) {
    const ember_axis_t *s = state;
    for (uint32_t o = 0; o < s->outer; o++) {
        for (uint32_t n = 0; n < s->inner; n++) {
            line(s, (size_t)o * s->count * s->inner + n);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    return ember_axis_prepare(node, state, ember_node_dim(node, 1, x.rank), 3);
}

EMBER_KERNEL(softmax, ember_axis_t);
