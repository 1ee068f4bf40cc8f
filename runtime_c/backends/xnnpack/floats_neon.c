// SPDX-License-Identifier: Apache-2.0
#include "floats_neon.h"

enum { MOST = 16 }; // bytes of four numbers

// One operand of a line: where it lies, or four times one number in `room`.
static const uint8_t *spread(const void *from, uint32_t step, uint32_t size,
                             uint8_t *room) {
    for (uint32_t i = 0; step == 0 && i < 4; i++) {
        memcpy(room + i * size, from, size);
    }
    return step == 0 ? room : from;
}

void ember_xnn_neon_line(const ember_xnn_node_t *node, const ember_xnn_lines_t *line,
                         xnn_neon_fours_fn compute) {
    const bool half = node->out[0]->datatype == XNN_F16;
    const uint32_t size = half ? 2 : 4;
    const uint32_t whole = line->count / 4;
    const uint32_t left = line->count % 4 * size;
    uint8_t a[MOST] = {0}, b[MOST] = {0}, y[MOST];
    xnn_neon_fours_t fours = {
        .y = line->y,
        .a = spread(line->a, line->a_step, size, a),
        .b = spread(line->b, line->b_step, size, b),
        .count = whole,
        .a_step = 4 * size * line->a_step,
        .b_step = 4 * size * line->b_step,
        .half = half,
        .low = node->low,
        .high = node->high,
    };
    compute(&fours);
    if (left > 0) {
        if (line->a_step != 0) {
            memcpy(a, fours.a + (size_t)whole * fours.a_step, left);
        }
        if (line->b_step != 0) {
            memcpy(b, fours.b + (size_t)whole * fours.b_step, left);
        }
        uint8_t *last = fours.y + (size_t)whole * 4 * size;
        fours.a = a;
        fours.b = b;
        fours.y = y;
        fours.count = 1;
        compute(&fours);
        memcpy(last, y, left);
    }
}

bool ember_xnn_neon_floats(const ember_xnn_node_t *node, uint32_t inputs) {
    const uint32_t datatype = node->out[0]->datatype;
    bool same = datatype == XNN_F32 || datatype == XNN_F16;
    for (uint32_t i = 0; i < inputs; i++) {
        same = same && node->in[i]->datatype == datatype;
    }
    return same;
}
