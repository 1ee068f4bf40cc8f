// SPDX-License-Identifier: Apache-2.0
// Matrices of bytes are transposed with the DSP instructions. Contract: turn.h.
#include <arm_dsp_columns.h>

#include "kernels/engine/dsp/products_dsp.h"
#include "kernels/engine/int8/turn.h"

enum { FOUR = 4 };

INLINE void put_word(int8_t *to, uint32_t word) {
    memcpy(to, &word, sizeof(word));
}

// Four rows become words, four columns at a time.
FAST void turn_four(int8_t *to, const int8_t *from, int32_t rows, int32_t columns) {
    const int32_t fours = columns / FOUR;

    if (fours > 0) {
        ember_turn_fours_dsp(to, from, rows, columns, fours);
        from += FOUR * fours;
        to += FOUR * fours * rows;
    }
    for (int32_t left = columns % FOUR; left > 0; left--) {
        put_word(to, (uint8_t)from[0] | (uint32_t)(uint8_t)from[columns] << 8 |
                         (uint32_t)(uint8_t)from[2 * columns] << 16 |
                         (uint32_t)(uint8_t)from[3 * columns] << 24);
        from++;
        to += rows;
    }
}

void ember_turn_dsp(int8_t *to, const int8_t *from, int32_t rows, int32_t columns) {
    int32_t i = 0;

    for (; i + FOUR <= rows; i += FOUR) {
        turn_four(to + i, from + i * columns, rows, columns);
    }
    for (; i < rows; i++) {
        int8_t *at = to + i;
        const int8_t *row = from + i * columns;
        for (int32_t j = columns; j > 0; j--) {
            *at = *row++;
            at += rows;
        }
    }
}
