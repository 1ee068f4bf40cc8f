// SPDX-License-Identifier: Apache-2.0
// y = the sums of all elements so far along one dimension, in the class of the
// output. y may be x.
#include "kernels/engine/lines.h"

static void add(ember_class_t class, ember_number_t *sum, ember_number_t x) {
    if (class == EMBER_CLASS_S64) {
        sum->s64 = (int64_t)((uint64_t)sum->s64 + (uint64_t)x.s64);
    } else if (class == EMBER_CLASS_F64) {
        sum->f64 += x.f64;
    } else {
        sum->f32 += x.f32;
    }
}

static void line(const ember_lines_t *s, const char *x, char *y) {
    const ember_class_t class = ember_class_of(s->y_dtype);
    ember_number_t sum = {.s64 = 0};
    for (uint32_t i = 0; i < s->count; i++, x += s->x_step, y += s->y_step) {
        ember_number_t number;
        ember_elements_load(class, &number, s->x_dtype, x, 0, 1);
        add(class, &sum, number);
        number = sum;
        ember_elements_store(class, &number, s->y_dtype, y, 0, 1);
    }
}

static int32_t run(void *state) {
    ember_lines_run(state, line);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    return ember_lines_prepare(node, state, ember_node_dim(node, 1, x.rank), 3);
}

EMBER_KERNEL(cumsum, ember_lines_t);
