// SPDX-License-Identifier: Apache-2.0
// pixel_shuffle: channels (c, r, r) become pixels (h * r, w * r).
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
    if (self.rank < 3 || self.sizes[self.rank - 3] % (r * r) != 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "pixel_shuffle: channels do not fit the factor");
    }
    const uint32_t c = self.rank - 3u;
    int32_t sizes[EMBER_MAX_RANK];
    for (uint32_t d = 0; d < self.rank; d++) {
        const int64_t size = d < c    ? self.sizes[d]
                             : d == c ? self.sizes[d] / (r * r)
                                      : (int64_t)self.sizes[d] * r;
        sizes[d] = size > INT32_MAX ? 0 : (int32_t)size;
    }
    ember_node_output(node, OUT, self.rank, sizes, &tensor);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (tensor.dtype != self.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "pixel_shuffle: dtypes");
    }
    ember_view_tensor(&out, &tensor);
    ember_view_split(&self, c, r);        // (c * r, r, h, w)
    ember_view_split(&self, c, r);        // (c, r, r, h, w)
    ember_view_split(&out, c + 2, r);     // (c, h * r, w, r)
    ember_view_split(&out, c + 1, r);     // (c, h, r, w, r)
    ember_view_move(&self, c + 3, c + 1); // (c, h, r, r, w)
    ember_view_move(&self, c + 4, c + 3); // (c, h, r, w, r)
    return ember_copy_prepare(state, node, &out, &self);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(pixel_shuffle, ember_copy_t);
