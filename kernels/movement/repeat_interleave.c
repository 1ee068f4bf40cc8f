// SPDX-License-Identifier: Apache-2.0
// repeat_interleave: index i repeated repeats[i] times: [2, 0, 1] gives [0, 0, 2].
#include "ember/node.h"
#include "kernels/engine/element.h"

enum { REPEATS, OUTPUT_SIZE, OUT };

typedef struct {
    const char *repeats;
    char *out;
    ember_slot_t *slot; // NULL: the output's shape is fixed
    uint32_t count;     // of repeats
    uint32_t room;      // elements of an output whose shape is fixed
    uint8_t dtype;
    uint8_t size; // bytes of an element
} state_t;

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t repeats, out;
    const int64_t wanted = ember_node_int_or(node, OUTPUT_SIZE, -1);

    ember_node_tensor(node, REPEATS, &repeats);
    ember_node_inout(node, OUT, &out);
    s->slot = NULL;
    if (wanted < 0) {
        s->slot = ember_node_slot(node, OUT);
    } else if (wanted <= INT32_MAX) {
        const int32_t size = (int32_t)wanted;
        ember_node_output(node, OUT, 1, &size, &out);
    }
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (repeats.rank != 1 || out.rank != 1) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "repeat_interleave: rank");
    }
    if (repeats.dtype != out.dtype ||
        (out.dtype != EMBER_S32 && out.dtype != EMBER_S64)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "repeat_interleave: dtypes");
    }
    s->repeats = repeats.data;
    s->out = out.data;
    s->count = repeats.numel;
    s->room = out.numel;
    s->dtype = out.dtype;
    s->size = out.element_size;
    return EMBER_OK;
}

static int64_t repeats_of(const state_t *s, uint32_t i) {
    int64_t number;

    ember_elements_load(EMBER_CLASS_S64, &number, s->dtype,
                        s->repeats + (size_t)i * s->size, 0, 1);
    return number;
}

static int32_t run(void *state) {
    const state_t *s = state;
    char *at = s->out;
    int64_t total = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        const int64_t repeats = repeats_of(s, i);
        if (repeats < 0 || repeats > INT32_MAX - total) {
            return EMBER_DATA_RANGE;
        }
        total += repeats;
    }
    const int32_t size = (int32_t)total;
    if (s->slot != NULL) {
        const ember_status_t status = ember_slot_resize(s->slot, 1, &size);
        if (status != EMBER_OK) {
            return status;
        }
    } else if (total != s->room) {
        return EMBER_DATA_RANGE;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        for (int64_t left = repeats_of(s, i); left > 0 && total > 0; left--, total--) {
            int64_t index = i;
            ember_elements_store(EMBER_CLASS_S64, &index, s->dtype, at, 0, 1);
            at += s->size;
        }
    }
    return EMBER_OK;
}

EMBER_KERNEL(repeat_interleave, state_t);
