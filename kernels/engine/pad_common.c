// SPDX-License-Identifier: Apache-2.0
// What pads with a constant share. Contract: pad.h.
#include "kernels/engine/pad.h"

#include <string.h>

static void pad_shape(ember_node_t *node, const ember_view_t *self,
                      const ember_pad_amounts_t *amounts, int32_t *sizes) {
    for (uint32_t d = 0; d < self->rank; d++) {
        const int64_t size =
            (int64_t)self->sizes[d] + amounts->before[d] + amounts->after[d];
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

// Everything except the value that is filled in.
static ember_status_t place(ember_node_t *node, ember_pad_t *pad, uint32_t out,
                            ember_view_t *self, const ember_pad_amounts_t *amounts,
                            ember_tensor_t *tensor) {
    int32_t sizes[EMBER_MAX_RANK];
    ember_view_t whole;

    pad_shape(node, self, amounts, sizes);
    ember_node_output(node, out, self->rank, sizes, tensor);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (tensor->dtype != self->dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "pad: dtypes differ");
    }
    ember_view_tensor(&whole, tensor);
    for (uint32_t d = 0; d < self->rank; d++) {
        keep(self, &whole, d, amounts->before[d]);
    }
    pad->whole = ember_view_numel(&whole) == tensor->numel;
    return ember_copy_prepare(&pad->copy, node, &whole, self);
}

ember_status_t ember_pad_prepare(ember_node_t *node, ember_pad_t *pad, uint32_t out,
                                 ember_view_t *self, const ember_pad_amounts_t *amounts,
                                 ember_value_t value) {
    ember_tensor_t tensor;
    const ember_status_t status = place(node, pad, out, self, amounts, &tensor);
    return status != EMBER_OK ? status
                              : ember_fill_prepare(node, &pad->fill, &tensor, value);
}

ember_status_t ember_pad_bytes(ember_node_t *node, ember_pad_t *pad, uint32_t out,
                               ember_view_t *self, const ember_pad_amounts_t *amounts,
                               uint8_t value) {
    ember_tensor_t tensor;
    const ember_status_t status = place(node, pad, out, self, amounts, &tensor);
    if (status == EMBER_OK) {
        pad->fill = (ember_fill_t){tensor.data, tensor.numel, 1, {0, 0}};
        memcpy(pad->fill.number, &value, 1);
    }
    return status;
}

int32_t ember_pad_run(void *pad) {
    const ember_pad_t *s = pad;

    if (!s->whole) {
        (void)ember_fill_run(&s->fill);
    }
    ember_copy_run(&s->copy);
    return EMBER_OK;
}
