// SPDX-License-Identifier: Apache-2.0
// y = exp(x) / sum of exp(x) along one dimension, any dtype and dim order, in double.
// y may be x.
#include <math.h>

#include "kernels/engine/lines.h"
#include "kernels/engine/promote.h"

static void line(const ember_lines_t *s, const char *x, char *y) {
    double top;
    const double sum = ember_line_exp_sum(s, x, &top);
    for (uint32_t i = 0; i < s->count; i++) {
        const double value = ember_line_get(s, x, i);
        ember_line_set(s, y, i, exp(value - top) / sum);
    }
}

static int32_t run(void *state) {
    ember_lines_run(state, line);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    ember_output_check_self(node);
    ember_output_check_floats(node);
    return ember_lines_prepare(node, state, ember_node_dim(node, 1, x.rank), 3);
}

EMBER_KERNEL(softmax, ember_lines_t);
