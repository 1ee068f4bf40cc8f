// SPDX-License-Identifier: Apache-2.0
// y = the sums of all elements so far along one dimension, in the class of the
// output. y may be x.
#include "kernels/engine/axis.h"

static void add(ember_class_t class, ember_number_t *sum, ember_number_t x) {
    if (class == EMBER_CLASS_S64) {
        sum->s64 = (int64_t)((uint64_t)sum->s64 + (uint64_t)x.s64);
    } else if (class == EMBER_CLASS_F64) {
        sum->f64 += x.f64;
    } else {
        sum->f32 += x.f32;
    }
}

static void line(const ember_axis_t *s, size_t at) {
    const ember_class_t class = ember_class_of(s->y_dtype);
    ember_number_t sum = {.s64 = 0};
    for (uint32_t i = 0; i < s->count; i++, at += s->inner) {
        ember_number_t number;
        ember_elements_load(class, &number, s->x_dtype, s->x + at * s->x_size, 0, 1);
        add(class, &sum, number);
        number = sum;
        ember_elements_store(class, &number, s->y_dtype, s->y + at * s->y_size, 0, 1);
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

EMBER_KERNEL(cumsum, ember_axis_t);
