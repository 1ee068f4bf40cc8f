// SPDX-License-Identifier: Apache-2.0
// native_dropout: in training, each element is kept with probability 1 - p and then
// divided by that, or else becomes 0; the mask says which ones are kept.
#include "kernels/engine/axis.h"
#include "kernels/random/random.h"

enum { INPUT, P, TRAIN, OUT, MASK };

typedef struct {
    ember_random_t random;
    const char *input;
    char *out;
    uint8_t *mask;
    uint32_t count;
    double p;
    bool train;
    uint8_t dtype;
    uint8_t size; // bytes of an element
} state_t;

static int32_t run(void *state) {
    state_t *s = state;
    const double scale = s->p < 1.0 ? 1.0 / (1.0 - s->p) : 0.0;

    ember_random_start(&s->random);
    for (uint32_t i = 0; i < s->count; i++) {
        const size_t at = (size_t)i * s->size;
        const bool kept =
            !s->train || ember_random_uniform(&s->random, EMBER_F32) >= s->p;
        const double x = ember_load_double(s->dtype, s->input + at);
        const double factor = s->train ? scale : 1.0;
        ember_store_double(s->dtype, s->out + at, kept ? x * factor : x * 0.0);
        s->mask[i] = kept;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t input, out, mask;

    ember_node_tensor(node, INPUT, &input);
    ember_node_output_like(node, OUT, &input, &out);
    ember_node_output_like(node, MASK, &input, &mask);
    s->p = ember_node_double(node, P);
    s->train =
        ember_node_kind(node, TRAIN) == EMBER_NONE || ember_node_bool(node, TRAIN);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!(s->p >= 0.0 && s->p <= 1.0)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "native_dropout: p");
    }
    if (ember_class_of(input.dtype) == EMBER_CLASS_S64 || out.dtype != input.dtype ||
        mask.dtype != EMBER_B1 || !ember_tensor_same_layout(&input, &out) ||
        !ember_tensor_same_layout(&input, &mask)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "native_dropout: dtypes");
    }
    ember_random_prepare(&s->random, node);
    s->input = input.data;
    s->out = out.data;
    s->mask = mask.data;
    s->count = input.numel;
    s->dtype = input.dtype;
    s->size = input.element_size;
    return EMBER_OK;
}

EMBER_KERNEL(native_dropout, state_t);
