// SPDX-License-Identifier: Apache-2.0
// nonzero: the index of every element that is not zero, in logical order: (count, rank)
// int64. The count is only known at run time.
#include <string.h>

#include "kernels/engine/element.h"
#include "kernels/engine/view.h"

enum { SELF, OUT };

typedef struct {
    const char *self;
    char *out;
    ember_slot_t *slot;
    uint32_t numel; // of self
    uint8_t dtype;
    uint8_t rank;
    bool by_columns; // dimension 1 of the output is the outer one
    int32_t sizes[EMBER_MAX_RANK];
    int32_t strides[EMBER_MAX_RANK];
} state_t;

static bool is_true(const char *element, uint32_t dtype) {
    ember_number_t number;

    switch (ember_class_of(dtype)) {
    case EMBER_CLASS_F32:
        ember_elements_load(EMBER_CLASS_F32, &number, dtype, element, 0, 1);
        return number.f32 < 0 || !(number.f32 <= 0);
    case EMBER_CLASS_F64:
        ember_elements_load(EMBER_CLASS_F64, &number, dtype, element, 0, 1);
        return number.f64 < 0 || !(number.f64 <= 0);
    default:
        ember_elements_load(EMBER_CLASS_S64, &number, dtype, element, 0, 1);
        return number.s64 != 0;
    }
}

// The next index in logical order; false after the last.
static bool advance(const state_t *s, int32_t *index, const char **at) {
    for (uint32_t d = s->rank; d-- > 0;) {
        if (++index[d] < s->sizes[d]) {
            *at += s->strides[d];
            return true;
        }
        index[d] = 0;
        *at -= (ptrdiff_t)s->strides[d] * (s->sizes[d] - 1);
    }
    return false;
}

// Counts the elements that are not zero.
static int32_t count_true(const state_t *s) {
    int32_t index[EMBER_MAX_RANK] = {0};
    const char *at = s->self;
    int32_t count = 0;

    do {
        count += is_true(at, s->dtype) ? 1 : 0;
    } while (advance(s, index, &at));
    return count;
}

static void write_indices(const state_t *s, int32_t count) {
    const int32_t size = (int32_t)sizeof(int64_t);
    const int32_t row_step = s->by_columns ? size : s->rank * size;
    const int32_t index_step = s->by_columns ? count * size : size;
    int32_t index[EMBER_MAX_RANK] = {0};
    const char *at = s->self;
    char *row = s->out;

    do {
        if (!is_true(at, s->dtype)) {
            continue;
        }
        for (uint32_t d = 0; d < s->rank; d++) {
            const int64_t value = index[d];
            memcpy(row + (ptrdiff_t)d * index_step, &value, sizeof(value));
        }
        row += row_step;
    } while (advance(s, index, &at));
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t self, out;
    ember_view_t view;

    ember_node_tensor(node, SELF, &self);
    ember_node_inout(node, OUT, &out);
    s->slot = ember_node_slot(node, OUT);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (out.dtype != EMBER_S64 || out.rank != 2) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "nonzero: wrong kind of output");
    }
    ember_view_tensor(&view, &self);
    s->self = self.data;
    s->out = out.data;
    s->numel = self.numel;
    s->dtype = self.dtype;
    s->rank = self.rank;
    s->by_columns = out.dim_order[0] == 1;
    memcpy(s->sizes, view.sizes, sizeof(s->sizes));
    memcpy(s->strides, view.strides, sizeof(s->strides));
    return EMBER_OK;
}

static int32_t run(void *state) {
    const state_t *s = state;
    const int32_t count = s->numel == 0 ? 0 : count_true(s);
    const int32_t sizes[2] = {count, s->rank};
    const ember_status_t status = ember_slot_resize(s->slot, 2, sizes);

    if (status == EMBER_OK && count > 0) {
        write_indices(s, count);
    }
    return status;
}

EMBER_KERNEL(nonzero, state_t);
