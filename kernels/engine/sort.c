// SPDX-License-Identifier: Apache-2.0
// Sorted lines of a tensor. Contract: sort.h.
#include "kernels/engine/sort.h"

#include <string.h>

#include "kernels/engine/element.h"

// The walk over all dimensions but `dim`.
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

ember_status_t ember_sort_prepare(ember_sort_t *sort, ember_node_t *node, uint32_t dim,
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

// Whether `a` is the smaller number; NaN is larger than all others.
static bool is_less(ember_class_t class, ember_number_t a, ember_number_t b) {
    if (class == EMBER_CLASS_F32) {
        return a.f32 < b.f32 || (b.f32 != b.f32 && a.f32 == a.f32);
    }
    if (class == EMBER_CLASS_F64) {
        return a.f64 < b.f64 || (b.f64 != b.f64 && a.f64 == a.f64);
    }
    return a.s64 < b.s64;
}

static ember_number_t load(uint32_t dtype, const char *at) {
    ember_number_t number;

    ember_elements_load(ember_class_of(dtype), &number, dtype, at, 0, 1);
    return number;
}

// Puts element `index`, at `element`, in its place among the first `filled` values;
// the last one falls out when there are `count`.
static void insert(const ember_sort_t *sort, char *values, char *indices,
                   const char *element, int32_t index, int32_t filled) {
    const ember_class_t class = ember_class_of(sort->dtype);
    const size_t size = ember_dtype_size(sort->dtype);
    const ember_number_t number = load(sort->dtype, element);
    int32_t place = filled;

    while (place > 0) {
        const char *before = values + (ptrdiff_t)(place - 1) * sort->value_step;
        const ember_number_t other = load(sort->dtype, before);
        const bool first = sort->descending ? is_less(class, other, number)
                                            : is_less(class, number, other);
        if (!first) {
            break;
        }
        if (place < sort->count) {
            char *index_at = indices + (ptrdiff_t)place * sort->index_step;
            memcpy(values + (ptrdiff_t)place * sort->value_step, before, size);
            memcpy(index_at, index_at - sort->index_step, sizeof(int64_t));
        }
        place--;
    }
    if (place < sort->count) {
        const int64_t wide = index;
        memcpy(values + (ptrdiff_t)place * sort->value_step, element, size);
        memcpy(indices + (ptrdiff_t)place * sort->index_step, &wide, sizeof(wide));
    }
}

static void sort_line(const ember_sort_t *sort, char *values, char *indices,
                      const char *self) {
    for (int32_t i = 0; i < sort->size; i++) {
        insert(sort, values, indices, self + (ptrdiff_t)i * sort->self_step, i,
               i < sort->count ? i : sort->count);
    }
}

void ember_sort_run(const ember_sort_t *sort) {
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
            sort_line(sort, walk.at[0] + (ptrdiff_t)i * row[1],
                      walk.at[1] + (ptrdiff_t)i * row[2],
                      walk.at[2] + (ptrdiff_t)i * row[3]);
        }
    } while (ember_walk_next(&walk));
}
