// SPDX-License-Identifier: Apache-2.0
// select_scatter: a copy of self in which one index of a dimension is src.
#include "kernels/engine/copy.h"
#include "kernels/engine/view_args.h"

enum { SELF, SRC, DIM, INDEX, OUT };

typedef struct {
    ember_copy_t whole;
    ember_copy_t region;
} state_t;

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t tensor;
    ember_view_t self, src, out;

    ember_view_arg(&self, node, SELF);
    const ember_status_t status = ember_copy_output(&s->whole, node, OUT, &self);
    if (status != EMBER_OK) {
        return status;
    }
    ember_node_inout(node, OUT, &tensor);
    ember_view_tensor(&out, &tensor);
    ember_view_arg(&src, node, SRC);
    ember_view_select_args(&out, node, DIM);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (src.dtype != out.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "select_scatter: dtypes differ");
    }
    return ember_copy_prepare(&s->region, node, &out, &src);
}

static int32_t run(void *state) {
    const state_t *s = state;

    ember_copy_run(&s->whole);
    ember_copy_run(&s->region);
    return EMBER_OK;
}

EMBER_KERNEL(select_scatter, state_t);
