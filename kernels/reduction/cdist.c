// SPDX-License-Identifier: Apache-2.0
// cdist: the distance of each row of x1 from each row of x2, batch by batch:
// (b, p, m), (b, r, m) to (b, p, r).
#include <string.h>

#include "kernels/engine/cursor.h"
#include "kernels/reduction/distance.h"

enum { X1, X2, P, COMPUTE_MODE, OUT };

typedef struct {
    ember_distance_t distance;
    char *data[3]; // out, x1, x2
    int32_t rows;
    int32_t columns;
    int32_t steps[4]; // out by row and by column, x1 and x2 by row; bytes
    uint8_t dims;     // of the table; 0: nothing to do
    int32_t table[EMBER_WALK_ITEMS(3)]; // batches of the three
} state_t;

static void run_batch(const state_t *s, char *const at[3]) {
    for (int32_t i = 0; i < s->rows; i++) {
        const char *a = at[1] + (ptrdiff_t)i * s->steps[2];
        for (int32_t j = 0; j < s->columns; j++) {
            const char *b = at[2] + (ptrdiff_t)j * s->steps[3];
            ember_store_double(s->distance.dtype,
                               at[0] + (ptrdiff_t)i * s->steps[0] +
                                   (ptrdiff_t)j * s->steps[1],
                               ember_distance_of(&s->distance, a, b));
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    ember_cursor_t cursor;

    if (s->dims == 0) {
        return EMBER_OK;
    }
    ember_cursor_start(&cursor, s->table, s->dims, 3, s->data);
    do {
        run_batch(s, cursor.at);
    } while (ember_cursor_next(&cursor));
    return EMBER_OK;
}

// The batch dimensions of a tensor, broadcast; false if they do not fit.
static bool set_batches(ember_view_t *view, uint32_t rank, const int32_t *sizes) {
    view->rank = (uint8_t)(view->rank - 2);
    return ember_view_expand(view, rank, sizes);
}

static ember_status_t set_layout(state_t *s, ember_node_t *node,
                                 const ember_tensor_t *x1, const ember_tensor_t *x2,
                                 const ember_tensor_t *out) {
    ember_view_t a, b, to;
    const ember_view_t *const views[] = {&to, &a, &b};

    ember_view_tensor(&a, x1);
    ember_view_tensor(&b, x2);
    ember_view_tensor(&to, out);
    s->data[0] = out->data;
    s->data[1] = x1->data;
    s->data[2] = x2->data;
    s->steps[0] = to.strides[to.rank - 2];
    s->steps[1] = to.strides[to.rank - 1];
    s->steps[2] = a.strides[a.rank - 2];
    s->steps[3] = b.strides[b.rank - 2];
    s->distance.steps[0] = a.strides[a.rank - 1];
    s->distance.steps[1] = b.strides[b.rank - 1];
    to.rank = (uint8_t)(to.rank - 2);
    s->dims = 0;
    if (out->numel == 0) {
        return EMBER_OK;
    }
    if (set_batches(&a, to.rank, to.sizes) && set_batches(&b, to.rank, to.sizes)) {
        s->dims = (uint8_t)ember_cursor_table(views, 3, s->table);
    }
    return s->dims > 0 ? EMBER_OK
                       : ember_node_fail(node, EMBER_UNSUPPORTED, "cdist: batches");
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t x1, x2, out;
    int32_t sizes[EMBER_MAX_RANK];
    uint32_t rank;

    ember_node_tensor(node, X1, &x1);
    ember_node_tensor(node, X2, &x2);
    ember_distance_power(&s->distance, node, P);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x1.rank < 2 || x2.rank < 2 || x1.sizes[x1.rank - 1] != x2.sizes[x2.rank - 1]) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cdist: shapes");
    }
    ember_tensor_t batches[2] = {x1, x2};
    const ember_tensor_t *const both[] = {&batches[0], &batches[1]};
    batches[0].rank = (uint8_t)(x1.rank - 2);
    batches[1].rank = (uint8_t)(x2.rank - 2);
    if (!ember_broadcast_shape(both, 2, sizes, &rank)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cdist: batches");
    }
    sizes[rank] = s->rows = x1.sizes[x1.rank - 2];
    sizes[rank + 1] = s->columns = x2.sizes[x2.rank - 2];
    ember_node_output(node, OUT, rank + 2, sizes, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (ember_class_of(out.dtype) == EMBER_CLASS_S64 || x1.dtype != out.dtype ||
        x2.dtype != out.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cdist: dtypes");
    }
    ember_distance_work(&s->distance, node, out.numel, (uint32_t)x1.sizes[x1.rank - 1]);
    s->distance.count = x1.sizes[x1.rank - 1];
    s->distance.dtype = out.dtype;
    return set_layout(s, node, &x1, &x2, &out);
}

EMBER_KERNEL(cdist, state_t);
