// SPDX-License-Identifier: Apache-2.0
// constant_pad_nd: a value around the tensor; negative amounts cut elements off.
#include "kernels/engine/copy.h"
#include "kernels/engine/fill.h"

enum { SELF, PAD, VALUE, OUT };

typedef struct {
    ember_copy_t copy;
    ember_fill_t fill;
} state_t;

// Pads of the dimensions, the last one first, are pairs (before, after).
static int32_t pad_of(ember_node_t *node, uint32_t rank, uint32_t d, uint32_t after) {
    const uint32_t item = 2 * (rank - 1 - d) + after;

    if (item >= ember_node_list_count(node, PAD)) {
        return 0;
    }
    const int64_t pad = ember_node_list_int(node, PAD, item);
    if (pad > INT32_MAX || pad < -INT32_MAX) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "pad: too large");
        return 0;
    }
    return (int32_t)pad;
}

static void pad_shape(ember_node_t *node, const ember_view_t *self, int32_t *sizes) {
    const uint32_t count = ember_node_list_count(node, PAD);

    if (count % 2 != 0 || count > 2u * self->rank) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "pad: length of the list");
    }
    for (uint32_t d = 0; d < self->rank; d++) {
        const int64_t size = (int64_t)self->sizes[d] + pad_of(node, self->rank, d, 0) +
                             pad_of(node, self->rank, d, 1);
        if (size < 0 || size > INT32_MAX) {
            ember_node_fail(node, EMBER_BAD_PROGRAM, "pad: bad size");
        }
        sizes[d] = (int32_t)size;
    }
}

// Cuts both views down to the part of dimension d that is copied.
static void keep(ember_view_t *self, ember_view_t *out, uint32_t d, int32_t before) {
    const int64_t from = before < 0 ? -(int64_t)before : 0; // in self
    const int64_t to = before > 0 ? before : 0;             // in out
    const int64_t left = self->sizes[d] - from;
    const int64_t room = out->sizes[d] - to;
    const int64_t least = left < room ? left : room;
    const int32_t count = least > 0 ? (int32_t)least : 0;

    ember_view_slice(self, d, count > 0 ? (int32_t)from : 0, count, 1);
    ember_view_slice(out, d, count > 0 ? (int32_t)to : 0, count, 1);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t tensor;
    ember_view_t self, out;

    ember_view_arg(&self, node, SELF);
    pad_shape(node, &self, sizes);
    ember_node_output(node, OUT, self.rank, sizes, &tensor);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (tensor.dtype != self.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "pad: dtypes differ");
    }
    ember_view_tensor(&out, &tensor);
    for (uint32_t d = 0; d < self.rank; d++) {
        keep(&self, &out, d, pad_of(node, self.rank, d, 0));
    }
    const ember_status_t status =
        ember_fill_prepare(node, &s->fill, &tensor, ember_node_scalar(node, VALUE));
    return status != EMBER_OK ? status
                              : ember_copy_prepare(&s->copy, node, &out, &self);
}

static int32_t run(void *state) {
    state_t *s = state;

    (void)ember_fill_run(&s->fill);
    ember_copy_run(&s->copy);
    return EMBER_OK;
}

EMBER_KERNEL(constant_pad_nd, state_t);
