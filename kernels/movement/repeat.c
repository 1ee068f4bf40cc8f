// SPDX-License-Identifier: Apache-2.0
// repeat: the tensor repeated some number of times along each dimension.
#include "kernels/engine/copy.h"
#include "kernels/engine/strided.h"

enum { SELF, REPEATS, OUT };

// Dimensions that the copy has no room for become a walk around it.
typedef struct {
    ember_copy_t copy;
    uint32_t outer;                     // of them
    int32_t table[EMBER_WALK_ITEMS(2)]; // out, self
} state_t;

// Reads the repeats, gives the view as many dimensions, and computes the output's
// sizes.
static void read_repeats(ember_node_t *node, ember_view_t *view, int32_t *repeats,
                         int32_t *sizes) {
    const uint32_t rank = ember_node_ints(node, REPEATS, repeats, EMBER_MAX_RANK);

    if (rank < view->rank) {
        ember_node_fail(node, EMBER_BAD_PROGRAM,
                        "repeat: fewer repeats than dimensions");
        return;
    }
    while (view->rank < rank) {
        ember_view_insert(view, 0, 1, 0);
    }
    for (uint32_t d = 0; d < rank; d++) {
        const int64_t size = (int64_t)view->sizes[d] * repeats[d];
        if (repeats[d] < 0 || size > INT32_MAX) {
            ember_node_fail(node, EMBER_BAD_PROGRAM, "repeat: bad number of repeats");
            return;
        }
        sizes[d] = (int32_t)size;
    }
}

// A dimension of n repeated r times is read as (r, n), with stride 0 for r. Most
// repeats are 1, or of dimensions of size 1, so few dimensions are added.
static bool repeat_dim(ember_view_t *to, ember_view_t *from, uint32_t d,
                       int32_t repeats) {
    if (from->sizes[d] == 1) {
        from->sizes[d] = repeats;
        from->strides[d] = 0;
        return true;
    }
    if (repeats == 1 || from->sizes[d] == 0) {
        return true;
    }
    if (from->rank == EMBER_VIEW_RANK) {
        return false;
    }
    ember_view_split(to, d, from->sizes[d]);
    ember_view_insert(from, d, repeats, 0);
    return true;
}

// Reduces the dimensions to what a copy takes. False if there are still too many.
static bool set_outer(state_t *s, ember_view_t *to, ember_view_t *from) {
    int32_t *row = s->table;
    uint32_t rank = 0;

    for (uint32_t d = 0; d < to->rank; d++) {
        rank += to->sizes[d] != 1;
    }
    s->outer = rank > EMBER_COPY_DIMS ? rank - EMBER_COPY_DIMS : 0;
    if (s->outer > EMBER_WALK_DIMS) {
        return false;
    }
    for (uint32_t d = 0; rank > EMBER_COPY_DIMS; d++) {
        if (to->sizes[d] != 1) {
            *row++ = to->sizes[d];
            *row++ = to->strides[d];
            *row++ = from->strides[d];
            to->sizes[d] = 1;
            from->sizes[d] = 1;
            rank--;
        }
    }
    return true;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    int32_t repeats[EMBER_MAX_RANK], sizes[EMBER_MAX_RANK];
    ember_tensor_t out;
    ember_view_t from, to;

    ember_view_arg(&from, node, SELF);
    read_repeats(node, &from, repeats, sizes);
    ember_node_output(node, OUT, from.rank, sizes, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (out.dtype != from.dtype) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "repeat: dtypes differ");
    }
    ember_view_tensor(&to, &out);
    if (out.numel == 0) {
        from = to; // nothing to copy, whichever size is 0
    }
    for (uint32_t d = out.rank; d-- > 0 && out.numel != 0;) {
        if (!repeat_dim(&to, &from, d, repeats[d])) {
            return ember_node_fail(node, EMBER_UNSUPPORTED, "repeat: too many");
        }
    }
    if (!set_outer(s, &to, &from)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "repeat: too many");
    }
    return ember_copy_prepare(&s->copy, node, &to, &from);
}

static int32_t run(void *state) {
    const state_t *s = state;
    ember_walk_t walk;

    ember_walk_start(&walk, s->table, s->outer + 1, 2);
    walk.at[0] = (char *)s->copy.dst;
    walk.at[1] = (char *)(uintptr_t)s->copy.src;
    do {
        ember_copy_run_at(&s->copy, walk.at[0], walk.at[1]);
    } while (ember_walk_next(&walk));
    return EMBER_OK;
}

EMBER_KERNEL(repeat, state_t);
