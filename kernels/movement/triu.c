// SPDX-License-Identifier: Apache-2.0
// triu: the part of each matrix on and above a diagonal; zeros elsewhere.
#include <string.h>

#include "kernels/engine/copy.h"

enum { SELF, DIAGONAL, OUT };

typedef struct {
    ember_copy_t copy;
    char *out;
    int32_t matrices;
    int32_t rows;
    int32_t columns;
    int32_t element_size;
    int32_t diagonal;
} state_t;

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t out;
    ember_view_t self;

    ember_view_arg(&self, node, SELF);
    const int64_t diagonal = ember_node_int(node, DIAGONAL);
    const ember_status_t status = ember_copy_output(&s->copy, node, OUT, &self);
    if (status != EMBER_OK) {
        return status;
    }
    ember_node_inout(node, OUT, &out);
    if (out.rank < 2 || !ember_tensor_is_contiguous(&out)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "triu: rank or layout");
    }
    s->out = out.data;
    s->rows = out.sizes[out.rank - 2];
    s->columns = out.sizes[out.rank - 1];
    s->matrices = out.numel == 0 ? 0 : (int32_t)out.numel / s->rows / s->columns;
    s->element_size = out.element_size;
    // No matrix reaches further; sums of rows and diagonals cannot overflow then.
    const int32_t limit = INT32_MAX / 2;
    s->diagonal = diagonal < -limit  ? -limit
                  : diagonal > limit ? limit
                                     : (int32_t)diagonal;
    return ember_node_status(node);
}

static bool is_kept(int64_t row, int64_t column, int64_t diagonal) {
    return column - row >= diagonal;
}

static int32_t run(void *state) {
    const state_t *s = state;
    char *at = s->out;

    ember_copy_run(&s->copy);
    for (int32_t m = 0; m < s->matrices; m++) {
        for (int32_t row = 0; row < s->rows; row++) {
            for (int32_t column = 0; column < s->columns; column++) {
                if (!is_kept(row, column, s->diagonal)) {
                    memset(at, 0, (size_t)s->element_size);
                }
                at += s->element_size;
            }
        }
    }
    return EMBER_OK;
}

EMBER_KERNEL(triu, state_t);
