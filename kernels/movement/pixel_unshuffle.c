// SPDX-License-Identifier: Apache-2.0
// pixel_unshuffle: pixels (h * r, w * r) become channels (c, r, r).
#include "kernels/engine/copy.h"

enum { SELF, FACTOR, OUT };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t tensor;
    ember_view_t self, out;

    ember_view_arg(&self, node, SELF);
    const int32_t r = ember_node_int_in(node, FACTOR, 1, 1 << 15);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (self.rank < 3 || self.sizes[self.rank - 2] % r != 0 ||
        self.sizes[self.rank - 1] % r != 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "pixel_unshuffle: size");
    }
    const uint32_t c = self.rank - 3u;
    int32_t sizes[EMBER_MAX_RANK];
    for (uint32_t d = 0; d < self.rank; d++) {
        const int64_t size = d < c    ? self.sizes[d]
                             : d == c ? (int64_t)self.sizes[d] * r * r
                                      : self.sizes[d] / r;
        sizes[d] = size > INT32_MAX ? 0 : (int32_t)size;
    }
    ember_node_output(node, OUT, self.rank, sizes, &tensor);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (tensor.dtype != self.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "pixel_unshuffle: dtypes");
    }
    ember_view_tensor(&out, &tensor);
    ember_view_split(&self, c + 2, r);    // (c, h * r, w, r)
    ember_view_split(&self, c + 1, r);    // (c, h, r, w, r)
    ember_view_split(&out, c, r);         // (c * r, r, h, w)
    ember_view_split(&out, c, r);         // (c, r, r, h, w)
    ember_view_move(&self, c + 2, c + 1); // (c, r, h, w, r)
    ember_view_move(&self, c + 4, c + 2); // (c, r, r, h, w)
    return ember_copy_prepare(state, node, &out, &self);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(pixel_unshuffle, ember_copy_t);
