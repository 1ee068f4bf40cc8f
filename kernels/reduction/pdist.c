// SPDX-License-Identifier: Apache-2.0
// pdist: the distance of each row of a matrix from each one after it.
#include "kernels/engine/view.h"
#include "kernels/reduction/distance.h"

enum { SELF, P, OUT };

typedef struct {
    ember_distance_t distance;
    const char *self;
    char *out;
    int32_t rows;
    int32_t step; // from row to row, bytes
    uint8_t size; // bytes of a number
} state_t;

static int32_t run(void *state) {
    const state_t *s = state;
    char *at = s->out;

    for (int32_t i = 0; i < s->rows; i++) {
        const char *a = s->self + (ptrdiff_t)i * s->step;
        for (int32_t j = i + 1; j < s->rows; j++) {
            const char *b = s->self + (ptrdiff_t)j * s->step;
            ember_store_double(s->distance.dtype, at,
                               ember_distance_of(&s->distance, a, b));
            at += s->size;
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t out;
    ember_view_t self;

    ember_view_arg(&self, node, SELF);
    ember_distance_power(&s->distance, node, P);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const int64_t rows = self.rank == 2 ? self.sizes[0] : -1;
    const int64_t pairs = rows * (rows - 1) / 2;
    if (rows < 0 || pairs > INT32_MAX) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "pdist: shape");
    }
    const int32_t size = (int32_t)pairs;
    ember_node_output(node, OUT, 1, &size, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (ember_class_of(out.dtype) == EMBER_CLASS_S64 || self.dtype != out.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "pdist: dtypes");
    }
    ember_distance_work(&s->distance, node, out.numel, (uint32_t)self.sizes[1]);
    s->distance.count = self.sizes[1];
    s->distance.steps[0] = s->distance.steps[1] = self.strides[1];
    s->distance.dtype = out.dtype;
    s->self = self.data;
    s->out = out.data;
    s->rows = (int32_t)rows;
    s->step = self.strides[0];
    s->size = out.element_size;
    return EMBER_OK;
}

EMBER_KERNEL(pdist, state_t);
