// SPDX-License-Identifier: Apache-2.0
// rand: uniform over [0, 1).
#include "kernels/random/random.h"

static int32_t run(void *state) {
    ember_random_fill_t *s = state;
    char *at = s->data;

    ember_random_start(&s->random);
    for (uint32_t i = 0; i < s->count; i++, at += s->size) {
        double number = ember_random_uniform(&s->random, s->dtype);
        ember_elements_store(EMBER_CLASS_F64, &number, s->dtype, at, 0, 1);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_random_fill_prepare(node, state);
}

EMBER_KERNEL(rand, ember_random_fill_t);
