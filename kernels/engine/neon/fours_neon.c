// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/neon/fours_neon.h"

#include <stddef.h>
#include <string.h>

enum { MOST = 16 }; // bytes of four numbers

// One operand of a line: in place, or one number four times in `room`.
static const uint8_t *spread(const uint8_t *from, uint32_t step, uint32_t size,
                             uint8_t *room) {
    for (uint32_t i = 0; step == 0 && i < 4; i++) {
        memcpy(room + i * size, from, size);
    }
    return step == 0 ? room : from;
}

void ember_neon_line(const ember_neon_fours_t *line, ember_neon_fours_fn compute) {
    const uint32_t size = line->half ? 2 : 4;
    const uint32_t whole = line->count / 4;
    const uint32_t left = line->count % 4 * size;
    uint8_t a[MOST] = {0}, b[MOST] = {0}, y[MOST];
    ember_neon_fours_t fours = *line;
    fours.a = spread(line->a, line->a_step, size, a);
    fours.b = spread(line->b, line->b_step, size, b);
    fours.count = whole;
    fours.a_step = 4 * size * line->a_step;
    fours.b_step = 4 * size * line->b_step;
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
