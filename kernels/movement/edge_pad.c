// SPDX-License-Identifier: Apache-2.0
#include "kernels/movement/edge_pad.h"

enum { SELF, PADDING, OUT };

// Reads the pair of dimension `d`, which is `back` before the last. Returns what comes
// before, and adds both to the size.
static int32_t pad_dim(ember_node_t *node, const ember_view_t *view, uint32_t d,
                       uint32_t back, int32_t *size) {
    const int64_t before = ember_node_list_int(node, PADDING, 2 * back);
    const int64_t after = ember_node_list_int(node, PADDING, 2 * back + 1);

    if (before > INT32_MAX / 4 || after > INT32_MAX / 4 || before < -INT32_MAX ||
        after < -INT32_MAX) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "pad: too large");
        return 0;
    }
    const int64_t padded = view->sizes[d] + before + after;
    if (padded < 0 || padded > INT32_MAX / 2) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "pad: wrong size of output");
        return 0;
    }
    *size = (int32_t)padded;
    return (int32_t)before;
}

// A mirrored pad is shorter than the dimension; an edge must exist.
static void check_dim(ember_node_t *node, const ember_view_t *view, uint32_t d,
                      uint32_t back, ember_remap_mode_t mode) {
    const int64_t before = ember_node_list_int(node, PADDING, 2 * back);
    const int64_t after = ember_node_list_int(node, PADDING, 2 * back + 1);
    const int32_t size = view->sizes[d];
    if (mode == EMBER_REMAP_REFLECT ? before >= size || after >= size : size == 0) {
        ember_node_fail(node, EMBER_BAD_PROGRAM,
                        "pad: the input is smaller than the padding");
    }
}

ember_status_t ember_edge_pad_prepare(ember_node_t *node, ember_remap_t *remap,
                                      ember_remap_mode_t mode) {
    const uint32_t pads = ember_node_list_count(node, PADDING) / 2;
    int32_t sizes[EMBER_MAX_RANK], shifts[EMBER_MAX_RANK] = {0};
    ember_tensor_t tensor;
    ember_view_t self, out;

    ember_view_arg(&self, node, SELF);
    if (ember_node_status(node) != EMBER_OK || pads > self.rank) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "pad: the list has the wrong length");
    }
    for (uint32_t d = 0; d < self.rank; d++) {
        const uint32_t back = self.rank - 1 - d;
        sizes[d] = self.sizes[d];
        if (back < pads) {
            check_dim(node, &self, d, back, mode);
            shifts[d] = pad_dim(node, &self, d, back, &sizes[d]);
        }
    }
    ember_node_output(node, OUT, self.rank, sizes, &tensor);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_view_tensor(&out, &tensor);
    const ember_status_t status = ember_remap_prepare(remap, node, &out, &self, mode);
    for (uint32_t d = 0; status == EMBER_OK && d < self.rank; d++) {
        remap->dims[d].shift = shifts[d];
    }
    if (status == EMBER_OK) {
        ember_remap_join(remap);
    }
    return status;
}
