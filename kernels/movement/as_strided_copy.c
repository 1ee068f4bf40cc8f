// SPDX-License-Identifier: Apache-2.0
// as_strided_copy: a view of the tensor's memory with given strides.
#include "kernels/engine/copy.h"

#include <string.h>

enum { SELF, SIZE, STRIDE, OFFSET, OUT };

// Sets dimension d of `view` and moves `last` to the last element it reaches. The
// strides are the program's: every sum is checked against the memory's `count`.
static bool add_dim(ember_view_t *view, uint32_t d, int64_t stride, int64_t *last,
                    int64_t count) {
    const int32_t size = view->sizes[d];

    if (stride < 0 || (size > 1 && stride >= count)) {
        return false;
    }
    if (size > 1) {
        *last += stride * (size - 1);
    }
    view->strides[d] = size > 1 ? (int32_t)stride * view->element_size : 0;
    return *last < count;
}

static bool restride(ember_view_t *view, ember_node_t *node, int64_t count) {
    int64_t last = ember_node_int_or(node, OFFSET, 0);

    view->rank = (uint8_t)ember_node_ints(node, SIZE, view->sizes, EMBER_MAX_RANK);
    if (ember_node_list_count(node, STRIDE) != view->rank || last < 0) {
        return false;
    }
    for (uint32_t d = 0; d < view->rank; d++) {
        if (view->sizes[d] <= 0) { // nothing is read; the output checks the sizes
            memset(view->strides, 0, sizeof(view->strides));
            return view->sizes[d] == 0;
        }
    }
    if (last >= count) {
        return false;
    }
    view->offset = (int32_t)last * view->element_size;
    for (uint32_t d = 0; d < view->rank; d++) {
        if (!add_dim(view, d, ember_node_list_int(node, STRIDE, d), &last, count)) {
            return false;
        }
    }
    return true;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t self;
    ember_view_t view;

    ember_node_tensor(node, SELF, &self);
    ember_view_tensor(&view, &self);
    if (!restride(&view, node, self.numel)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "as_strided: out of bounds");
    }
    return ember_copy_output(state, node, OUT, &view);
}

static int32_t run(void *state) {
    ember_copy_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(as_strided_copy, ember_copy_t);
