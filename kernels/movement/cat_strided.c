// SPDX-License-Identifier: Apache-2.0
// cat of a few tensors in different dim orders.
#include "kernels/engine/copy.h"
#include "kernels/engine/view_args.h"

enum { TENSORS, DIM, OUT };
enum { MOST = 4 };

typedef struct {
    ember_copy_t copies[MOST];
    uint32_t count;
} state_t;

// Input `item`; false for one of shape (0,), which cat skips, and for None.
static bool input(ember_node_t *node, uint32_t item, ember_view_t *view) {
    ember_tensor_t tensor;
    const bool there = ember_node_list_tensor(node, TENSORS, item, &tensor);

    ember_view_tensor(view, &tensor);
    return there && (tensor.rank != 1 || tensor.numel != 0);
}

static ember_status_t add(state_t *s, ember_node_t *node, const ember_view_t *whole,
                          const ember_view_t *part, uint32_t dim, int32_t *at) {
    ember_view_t region = *whole;

    if (s->count == MOST || part->dtype != whole->dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cat: dtypes or count");
    }
    if (part->rank != whole->rank || part->sizes[dim] > whole->sizes[dim] - *at) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cat: sizes do not fit");
    }
    ember_view_slice(&region, dim, *at, part->sizes[dim], 1);
    *at += part->sizes[dim];
    return ember_copy_prepare(&s->copies[s->count++], node, &region, part);
}

// The output's shape is that of the first input with `dim` summed.
static uint32_t set_shape(ember_node_t *node, ember_view_t *shape) {
    const uint32_t count = ember_node_list_count(node, TENSORS);
    ember_view_t view;
    int64_t total = 0;
    uint32_t dim = 0;

    shape->rank = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!input(node, i, &view) || view.rank == 0) {
            continue;
        }
        dim = ember_node_dim(node, DIM, view.rank);
        total += view.sizes[dim];
        *shape = view;
    }
    if (shape->rank == 0 || total > INT32_MAX) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "cat: nothing, or too large");
        return 0;
    }
    shape->sizes[dim] = (int32_t)total;
    return dim;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const uint32_t count = ember_node_list_count(node, TENSORS);
    state_t *s = state;
    ember_tensor_t out;
    ember_view_t whole, part;
    int32_t at = 0;

    const uint32_t dim = set_shape(node, &part);
    ember_node_output(node, OUT, part.rank, part.sizes, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_view_tensor(&whole, &out);
    s->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!input(node, i, &part)) {
            continue;
        }
        const ember_status_t status = add(s, node, &whole, &part, dim, &at);
        if (status != EMBER_OK) {
            return status;
        }
    }
    return EMBER_OK;
}

static int32_t run(void *state) {
    const state_t *s = state;

    for (uint32_t i = 0; i < s->count; i++) {
        ember_copy_run(&s->copies[i]);
    }
    return EMBER_OK;
}

EMBER_KERNEL(cat_strided, state_t);
