// SPDX-License-Identifier: Apache-2.0
// Rows of any dtype for the reduction engine.
#include "kernels/engine/reduce.h"

static void load(const ember_reduce_t *s, void *to, const void *from, int32_t step,
                 uint32_t count) {
    ember_elements_load((ember_class_t)s->class, to, s->x_dtype, from, step, count);
}

static void store(const ember_reduce_t *s, ember_sum_t *sum, char *value, char *index) {
    if (s->index != NULL) {
        int64_t number = sum->index;
        ember_elements_store(EMBER_CLASS_S64, &number, s->index_dtype, index, 0, 1);
    }
    if (s->value != NULL) {
        ember_elements_store((ember_class_t)s->class, &sum->value, s->value_dtype,
                             value, 0, 1);
    }
}

const ember_reduce_io_t ember_reduce_any = {load, store};
