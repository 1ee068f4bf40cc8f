// SPDX-License-Identifier: Apache-2.0
#include "floats_neon.h"

void ember_xnn_neon_line(const ember_xnn_node_t *node, const ember_xnn_lines_t *line,
                         ember_neon_fours_fn compute) {
    const ember_neon_fours_t fours = {
        .y = line->y,
        .a = line->a,
        .b = line->b,
        .count = line->count,
        .a_step = line->a_step,
        .b_step = line->b_step,
        .half = node->out[0]->datatype == XNN_F16,
        .low = node->low,
        .high = node->high,
    };
    ember_neon_line(&fours, compute);
}

bool ember_xnn_neon_floats(const ember_xnn_node_t *node, uint32_t inputs) {
    const uint32_t datatype = node->out[0]->datatype;
    bool same = datatype == XNN_F32 || datatype == XNN_F16;
    for (uint32_t i = 0; i < inputs; i++) {
        same = same && node->in[i]->datatype == datatype;
    }
    return same;
}
