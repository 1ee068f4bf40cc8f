// SPDX-License-Identifier: Apache-2.0
// roll: dimensions shifted around their ends; without dims, the flat tensor.
#include "kernels/engine/remap.h"
#include "kernels/engine/view_args.h"

enum { SELF, SHIFTS, DIMS, OUT };

// The shift of a dimension of `size`, in [0, size).
static int32_t wrap(int64_t shift, int32_t size) {
    const int64_t rest = size == 0 ? 0 : shift % size;
    return (int32_t)(rest < 0 ? rest + size : rest);
}

// A contiguous tensor as a vector.
static void flatten(ember_view_t *view, const ember_tensor_t *tensor) {
    view->rank = 0;
    ember_view_insert(view, 0, (int32_t)tensor->numel, tensor->element_size);
}

static void set_shifts(ember_remap_t *remap, ember_node_t *node) {
    const uint32_t count = ember_node_list_count(node, SHIFTS);

    for (uint32_t i = 0; i < count; i++) {
        const int64_t given = ember_node_list_int(node, DIMS, i);
        ember_remap_dim_t *dim = &remap->dims[ember_wrap_dim(node, given, remap->rank)];
        const int64_t shift = wrap(ember_node_list_int(node, SHIFTS, i), dim->size);
        dim->shift = wrap(dim->shift + shift, dim->size); // may be listed twice
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const uint32_t shifts = ember_node_list_count(node, SHIFTS);
    const uint32_t dims = ember_node_list_count(node, DIMS);
    ember_remap_t *remap = state;
    ember_tensor_t self, out;
    ember_view_t from, to;

    ember_node_tensor(node, SELF, &self);
    ember_node_output_like(node, OUT, &self, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (dims == 0 ? shifts != 1 : shifts != dims) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "roll: shifts and dims differ in length");
    }
    ember_view_tensor(&from, &self);
    ember_view_tensor(&to, &out);
    if (dims == 0) {
        if (!ember_tensor_is_contiguous(&self) || !ember_tensor_is_contiguous(&out)) {
            return ember_node_fail(node, EMBER_UNSUPPORTED, "roll: not contiguous");
        }
        flatten(&from, &self);
        flatten(&to, &out);
    }
    const ember_status_t status =
        ember_remap_prepare(remap, node, &to, &from, EMBER_REMAP_ROLL);
    if (status != EMBER_OK) {
        return status;
    }
    if (dims == 0) {
        remap->dims[0].shift =
            wrap(ember_node_list_int(node, SHIFTS, 0), from.sizes[0]);
    } else {
        set_shifts(remap, node);
    }
    ember_remap_join(remap);
    return ember_node_status(node);
}

static int32_t run(void *state) {
    ember_remap_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(roll, ember_remap_t);
