// SPDX-License-Identifier: Apache-2.0
// Sorted lines of a tensor. Contract: sort.h.
#include "kernels/engine/sort.h"

#include <string.h>

#include "kernels/engine/element.h"

// The walk over all dimensions except `dim`.
static bool set_table(ember_sort_t *sort, const ember_view_t *values,
                      const ember_view_t *indices, const ember_view_t *self,
                      uint32_t dim) {
    int32_t rows[EMBER_MAX_RANK * 4];
    uint32_t count = 0;

    for (uint32_t d = 0; d < values->rank; d++) {
        if (d != dim) {
            rows[count * 4] = values->sizes[d];
            rows[count * 4 + 1] = values->strides[d];
            rows[count * 4 + 2] = indices->strides[d];
            rows[count * 4 + 3] = self->strides[d];
            count++;
        }
    }
    const uint32_t dims = ember_walk_join(rows, count, 3);
    if (dims > EMBER_WALK_DIMS) {
        return false;
    }
    memcpy(sort->table, rows, dims * 4 * sizeof(rows[0]));
    sort->dims = (uint8_t)dims;
    return true;
}

static void as_vector(ember_view_t *view) {
    if (view->rank == 0) {
        ember_view_insert(view, 0, 1, 0);
    }
}

static ember_status_t set_scratch(ember_sort_t *sort, ember_node_t *node) {
    const size_t each = sizeof(int64_t) + 2 * sizeof(int32_t);

    sort->scratch = NULL;
    if (sort->count <= EMBER_SORT_FEW || sort->dims == 0) {
        return EMBER_OK;
    }
    if (sort->size > INT32_MAX / (int32_t)each) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "sort: too many elements");
    }
    sort->scratch = ember_node_scratch(node, (size_t)sort->size * each);
    return ember_node_status(node);
}

// Elementary steps of one element: in lines of few it may pass all others.
static uint32_t steps_of(int32_t size, int32_t count) {
    uint32_t steps = EMBER_SORT_STEPS;

    if (count <= EMBER_SORT_FEW) {
        steps += EMBER_SORT_STEPS_BEFORE * (uint32_t)count;
    }
    for (; size > 1; size /= 2) {
        steps += EMBER_SORT_STEPS_LEVEL;
    }
    return steps;
}

ember_status_t ember_sort_lines(ember_sort_t *sort, ember_node_t *node, uint32_t dim,
                                int32_t count, bool descending, uint32_t out) {
    ember_tensor_t values, indices;
    ember_view_t self, to, at;

    ember_view_arg(&self, node, 0);
    const uint32_t rank = self.rank;
    as_vector(&self);
    if (ember_node_status(node) != EMBER_OK || count > self.sizes[dim]) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "sort: count");
    }
    int32_t sizes[EMBER_MAX_RANK];
    memcpy(sizes, self.sizes, self.rank * sizeof(sizes[0]));
    sizes[dim] = count < 0 ? self.sizes[dim] : count;
    if (rank == 0 && sizes[0] != 1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "sort: none of a scalar");
    }
    ember_node_output(node, out, rank, sizes, &values);
    ember_node_output(node, out + 1, rank, sizes, &indices);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (values.dtype != self.dtype || indices.dtype != EMBER_S64) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "sort: dtypes");
    }
    ember_node_work(node, (uint32_t)ember_view_numel(&self),
                    steps_of(self.sizes[dim], sizes[dim]));
    ember_view_tensor(&to, &values);
    ember_view_tensor(&at, &indices);
    as_vector(&to);
    as_vector(&at);
    sort->values = values.data;
    sort->indices = indices.data;
    sort->self = self.data;
    sort->count = sizes[dim];
    sort->size = self.sizes[dim];
    sort->value_step = to.strides[dim];
    sort->index_step = at.strides[dim];
    sort->self_step = self.strides[dim];
    sort->dtype = self.dtype;
    sort->descending = descending;
    sort->dims = 0;
    if (values.numel > 0 && !set_table(sort, &to, &at, &self, dim)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "sort: too many dimensions");
    }
    return EMBER_OK;
}

ember_status_t ember_sort_scratch(ember_sort_t *sort, ember_node_t *node,
                                  int32_t count) {
    const size_t each = sizeof(int64_t) + sizeof(int32_t);

    if (count > INT32_MAX / (int32_t)each) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "sort: too many elements");
    }
    sort->scratch = ember_node_scratch(node, (size_t)count * each);
    return ember_node_status(node);
}

ember_status_t ember_sort_prepare(ember_sort_t *sort, ember_node_t *node, uint32_t dim,
                                  int32_t count, bool descending, uint32_t out) {
    const ember_status_t status =
        ember_sort_lines(sort, node, dim, count, descending, out);
    return status == EMBER_OK ? set_scratch(sort, node) : status;
}

void ember_sort_run(const ember_sort_t *sort) {
    ember_sort_lines_run(sort,
                         sort->scratch != NULL ? ember_sort_merge : ember_sort_insert);
}

void ember_sort_lines_run(const ember_sort_t *sort, ember_sort_line_fn line) {
    ember_walk_t walk;

    if (sort->dims == 0) {
        return;
    }
    ember_walk_start(&walk, sort->table, sort->dims, 3);
    walk.at[0] = sort->values;
    walk.at[1] = sort->indices;
    walk.at[2] = sort->self;
    const int32_t *row = sort->table + (sort->dims - 1u) * 4u;
    do {
        for (int32_t i = 0; i < row[0]; i++) {
            line(sort, walk.at[0] + (ptrdiff_t)i * row[1],
                 walk.at[1] + (ptrdiff_t)i * row[2],
                 walk.at[2] + (ptrdiff_t)i * row[3]);
        }
    } while (ember_walk_next(&walk));
}
