// SPDX-License-Identifier: Apache-2.0
#include "kernels/movement/triangle.h"

#include <string.h>

enum { SELF, DIAGONAL, OUT };

ember_status_t ember_triangle_prepare(ember_node_t *node, void *state) {
    ember_triangle_t *s = state;
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
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "tril, triu: wrong rank or layout");
    }
    s->out = out.data;
    s->rows = out.sizes[out.rank - 2];
    s->columns = out.sizes[out.rank - 1];
    s->matrices = out.numel == 0 ? 0 : (int32_t)out.numel / s->rows / s->columns;
    s->element_size = out.element_size;
    // Larger than any matrix, yet sums of rows and diagonals cannot overflow.
    const int32_t limit = INT32_MAX / 2;
    s->diagonal = diagonal < -limit  ? -limit
                  : diagonal > limit ? limit
                                     : (int32_t)diagonal;
    return ember_node_status(node);
}

void ember_triangle_run(const ember_triangle_t *s, bool above) {
    char *at = s->out;

    ember_copy_run(&s->copy);
    for (int32_t m = 0; m < s->matrices; m++) {
        for (int32_t row = 0; row < s->rows; row++) {
            for (int32_t column = 0; column < s->columns; column++) {
                const int64_t off = (int64_t)column - row - s->diagonal;
                if (above ? off < 0 : off > 0) {
                    memset(at, 0, (size_t)s->element_size);
                }
                at += s->element_size;
            }
        }
    }
}
