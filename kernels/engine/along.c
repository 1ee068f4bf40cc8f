// SPDX-License-Identifier: Apache-2.0
// One index per element. Contract: along.h.
#include "kernels/engine/along.h"

#include <string.h>

enum { MOVE_STEPS = 4 }; // of an element, which has an index and two addresses

static ember_view_t as_vector(const ember_view_t *view) {
    ember_view_t vector = *view;

    if (vector.rank == 0) {
        ember_view_insert(&vector, 0, 1, 0);
    }
    return vector;
}

static bool fits(const ember_view_t *index, const ember_view_t *whole,
                 const ember_view_t *other, uint32_t dim) {
    if (index->rank != whole->rank || index->rank != other->rank) {
        return false;
    }
    for (uint32_t d = 0; d < index->rank; d++) {
        if (index->sizes[d] > other->sizes[d] ||
            (d != dim && index->sizes[d] > whole->sizes[d])) {
            return false;
        }
    }
    return true;
}

static bool set_table(ember_along_t *along, const ember_view_t *index,
                      const ember_view_t *whole, const ember_view_t *other,
                      uint32_t dim) {
    int32_t rows[EMBER_MAX_RANK * 4];

    for (uint32_t d = 0; d < index->rank; d++) {
        rows[d * 4] = index->sizes[d];
        rows[d * 4 + 1] = index->strides[d];
        rows[d * 4 + 2] = d == dim ? 0 : whole->strides[d];
        rows[d * 4 + 3] = other->strides[d];
    }
    const uint32_t dims = ember_walk_join(rows, index->rank, 3);
    if (dims > EMBER_WALK_DIMS) {
        return false;
    }
    memcpy(along->table, rows, dims * 4 * sizeof(rows[0]));
    along->dims = (uint8_t)dims;
    return true;
}

ember_along_mode_t ember_along_scatter_mode(ember_node_t *node,
                                            ember_along_mode_t usual, uint32_t *out) {
    uint32_t length;
    const bool named = ember_node_kind(node, 4) == EMBER_STRING;
    *out = named ? 5 : 4;
    if (!named) {
        return usual;
    }
    const char *name = ember_node_string(node, 4, &length);
    if (name != NULL && length == 3 && memcmp(name, "add", 3) == 0) {
        return EMBER_ALONG_ADD;
    }
    if (name == NULL || length != 8 || memcmp(name, "multiply", 8) != 0) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "scatter: no such reduction");
    }
    return EMBER_ALONG_MULTIPLY;
}

ember_status_t ember_along_prepare(ember_along_t *along, ember_node_t *node,
                                   const ember_view_t *index, const ember_view_t *whole,
                                   const ember_view_t *other, uint32_t dim,
                                   ember_along_mode_t mode) {
    const ember_view_t i = as_vector(index);
    const ember_view_t w = as_vector(whole);
    const ember_view_t o = as_vector(other);

    along->index = index->data;
    along->whole = whole->data;
    along->other = other->data;
    along->dtype = whole->dtype;
    along->index_dtype = index->dtype;
    along->mode = (uint8_t)mode;
    along->dims = 0;
    if (whole->dtype != other->dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "index: dtypes");
    }
    if (ember_view_numel(index) == 0) {
        return EMBER_OK; // whatever its dtype, as in PyTorch
    }
    if (!ember_is_index_dtype(index->dtype)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "index: dtypes");
    }
    if (!fits(&i, &w, &o, dim)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "index: shapes do not fit");
    }
    ember_node_work(node, (uint32_t)ember_view_numel(index),
                    mode < EMBER_ALONG_COMBINE ? MOVE_STEPS : EMBER_STEPS_RESULT);
    along->size = w.sizes[dim];
    along->step = w.strides[dim];
    if (!set_table(along, &i, &w, &o, dim)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "index: too many dimensions");
    }
    return EMBER_OK;
}

static bool move(const ember_along_t *along, char *const *at, uint32_t size) {
    const int32_t index =
        ember_index_read(at[0], along->index_dtype, along->size, false);

    if (index < 0) {
        return false;
    }
    char *whole = at[1] + (ptrdiff_t)index * along->step;
    if (along->mode == EMBER_ALONG_GATHER) {
        memcpy(at[2], whole, size);
    } else if (along->mode == EMBER_ALONG_SCATTER) {
        memcpy(whole, at[2], size);
    } else {
        const uint32_t how = along->mode - (uint32_t)EMBER_ALONG_COMBINE;
        ember_elements_combine((ember_combine_t)how, whole, at[2], along->dtype, 1);
    }
    return true;
}

int32_t ember_along_run(const ember_along_t *along) {
    const uint32_t size = ember_dtype_size(along->dtype);
    ember_walk_t walk;
    char *at[3];

    if (along->dims == 0) {
        return EMBER_OK;
    }
    ember_walk_start(&walk, along->table, along->dims, 3);
    walk.at[0] = along->index;
    walk.at[1] = along->whole;
    walk.at[2] = along->other;
    const int32_t *row = along->table + (along->dims - 1u) * 4u;
    do {
        memcpy(at, walk.at, sizeof(at));
        for (int32_t i = 0; i < row[0]; i++) {
            if (!move(along, at, size)) {
                return EMBER_DATA_RANGE;
            }
            for (uint32_t k = 0; k < 3; k++) {
                at[k] += row[1 + k];
            }
        }
    } while (ember_walk_next(&walk));
    return EMBER_OK;
}
