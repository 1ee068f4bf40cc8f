// SPDX-License-Identifier: Apache-2.0
// embedding_dense_backward: adds rows of gradients to the rows of the table that the
// indices named; with scaling, divided by how often each was.
#include <string.h>

#include "kernels/engine/axis.h"
#include "kernels/engine/index.h"

enum { GRADIENT, INDICES, ROWS, PADDING, SCALE, OUT };

typedef struct {
    const char *gradient; // (count, columns)
    const char *indices;  // (count,)
    char *out;            // (rows, columns)
    int32_t *uses;        // scratch, (rows,); NULL: no scaling
    int64_t padding;      // an index that is ignored
    uint32_t count;
    uint32_t columns;
    int32_t rows;
    uint8_t index_dtype;
    uint8_t index_size; // bytes
    uint8_t dtype;
    uint8_t size; // bytes
} state_t;

// The row of index `i`; -1 if it is out of range.
static int32_t row_of(const state_t *s, uint32_t i) {
    return ember_index_read(s->indices + (size_t)i * s->index_size, s->index_dtype,
                            s->rows, false);
}

static void add_row(const state_t *s, uint32_t i, int32_t row) {
    const char *from = s->gradient + (size_t)i * s->columns * s->size;
    char *to = s->out + (size_t)(uint32_t)row * s->columns * s->size;
    const int32_t uses = s->uses != NULL && s->uses[row] > 0 ? s->uses[row] : 1;

    for (uint32_t c = 0; c < s->columns; c++, from += s->size, to += s->size) {
        const double number = ember_load_double(s->dtype, from) / uses;
        ember_store_double(s->dtype, to, ember_load_double(s->dtype, to) + number);
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    const size_t bytes = (size_t)(uint32_t)s->rows * s->columns * s->size;

    if (bytes > 0) {
        memset(s->out, 0, bytes);
    }
    if (s->uses != NULL && s->rows > 0) {
        memset(s->uses, 0, (size_t)(uint32_t)s->rows * sizeof(s->uses[0]));
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const int32_t row = row_of(s, i);
        if (row < 0) {
            return EMBER_DATA_RANGE;
        }
        if (s->uses != NULL) {
            s->uses[row]++;
        }
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const int32_t row = row_of(s, i);
        if (row >= 0 && row != s->padding) {
            add_row(s, i, row);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t gradient, indices, out;

    ember_node_tensor(node, GRADIENT, &gradient);
    ember_node_tensor(node, INDICES, &indices);
    s->rows = ember_node_int_in(node, ROWS, 0, INT32_MAX / 4);
    s->padding = ember_node_int(node, PADDING);
    const bool scale = ember_node_bool(node, SCALE);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (gradient.rank != indices.rank + 1u ||
        (indices.rank > 0 &&
         memcmp(gradient.sizes, indices.sizes, indices.rank * sizeof(int32_t)) != 0)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "embedding: wrong shape of gradient");
    }
    const int32_t sizes[2] = {s->rows, gradient.sizes[gradient.rank - 1]};
    ember_node_output(node, OUT, 2, sizes, &out);
    s->uses = NULL;
    if (scale) {
        s->uses =
            ember_node_scratch(node, (size_t)(uint32_t)s->rows * sizeof(s->uses[0]));
    }
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (out.dtype != gradient.dtype || ember_class_of(out.dtype) == EMBER_CLASS_S64 ||
        !ember_is_index_dtype(indices.dtype) || !ember_tensor_is_contiguous(&out) ||
        !ember_tensor_is_contiguous(&gradient) ||
        !ember_tensor_is_contiguous(&indices)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "embedding: wrong dtypes or layout");
    }
    s->gradient = gradient.data;
    s->indices = indices.data;
    s->out = out.data;
    s->count = indices.numel;
    s->columns = (uint32_t)sizes[1];
    s->index_dtype = indices.dtype;
    s->index_size = indices.element_size;
    s->dtype = out.dtype;
    s->size = out.element_size;
    return EMBER_OK;
}

EMBER_KERNEL(embedding_dense_backward, state_t);
