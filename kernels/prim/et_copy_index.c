// SPDX-License-Identifier: Apache-2.0
// Appends a tensor as row `index` of another, which then has index + 1 rows: this is
// how map and scan collect their results. Earlier rows stay as they are.
#include <string.h>

#include "ember/node.h"

typedef struct copy_index {
    char *to; // the row
    const char *from;
    size_t bytes;
} copy_index_t;

static int32_t run(void *state) {
    const copy_index_t *s = state;
    if (s->bytes > 0) {
        memmove(s->to, s->from, s->bytes);
    }
    return EMBER_OK;
}

// Whether the rows of `to` are adjacent, each in one piece like `from`; apart from the
// dimension of rows there may be some of size 1.
static bool rows_match(const ember_tensor_t *to, const ember_tensor_t *from) {
    uint8_t order[EMBER_MAX_RANK];
    ember_tensor_t row = *to;
    uint32_t count = 0;
    uint32_t ones = 0; // among those
    bool outermost = true;

    if (to->rank == 0 || to->dtype != from->dtype) {
        return false;
    }
    row.rank--;
    row.sizes++;
    row.dim_order = order;
    for (uint32_t i = 0; i < to->rank; i++) {
        const uint32_t d = to->dim_order[i];
        if (d == 0) {
            outermost = count == ones;
        } else {
            ones += to->sizes[d] == 1;
            order[count++] = (uint8_t)(d - 1);
        }
    }
    return ember_tensor_same_shape(from, &row) &&
           (from->numel == 0 || (outermost && ember_tensor_same_order(from, &row)));
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    copy_index_t *s = state;
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t from;
    ember_tensor_t to;

    ember_node_tensor(node, 0, &to);
    ember_node_tensor(node, 1, &from);
    const int32_t index = ember_node_int_in(node, 2, 0, INT32_MAX - 1);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!rows_match(&to, &from)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "et_copy_index: the row has a different shape");
    }
    sizes[0] = index + 1;
    memcpy(sizes + 1, from.sizes, from.rank * sizeof(*sizes));
    ember_node_output(node, 0, to.rank, sizes, &to); // refused past the bound
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    s->bytes = ember_tensor_bytes(&from);
    s->to = to.data == NULL ? NULL : (char *)to.data + (size_t)index * s->bytes;
    s->from = from.data;
    return EMBER_OK;
}

EMBER_KERNEL(et_copy_index, copy_index_t);
