// SPDX-License-Identifier: Apache-2.0
// randperm: the integers below n in random order.
#include <string.h>

#include "kernels/random/random.h"

enum { N, OUT };

static int32_t run(void *state) {
    ember_random_fill_t *s = state;
    const size_t size = s->size;
    uint64_t kept = 0; // an element, of any dtype

    ember_random_start(&s->random);
    for (uint32_t i = 0; i < s->count; i++) {
        // Puts number i at a random position up to the end, and what was there at the
        // end.
        const uint64_t scaled = (uint64_t)ember_random_word(&s->random) * (i + 1);
        char *end = s->data + i * size;
        char *place = s->data + (size_t)(scaled >> 32) * size;
        int64_t number = i;
        memcpy(&kept, place, size);
        memcpy(end, &kept, size);
        ember_elements_store(EMBER_CLASS_S64, &number, s->dtype, place, 0, 1);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_random_fill_t *s = state;
    const int32_t count = ember_node_int_in(node, N, 0, INT32_MAX);
    ember_tensor_t out;

    ember_node_output(node, OUT, 1, &count, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (out.dtype == EMBER_B1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "randperm: of bool");
    }
    ember_random_prepare(&s->random, node);
    s->data = out.data;
    s->count = out.numel;
    s->dtype = out.dtype;
    s->size = out.element_size;
    return EMBER_OK;
}

EMBER_KERNEL(randperm, ember_random_fill_t);
