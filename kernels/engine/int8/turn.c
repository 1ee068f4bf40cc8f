// SPDX-License-Identifier: Apache-2.0
// Transposes matrices of bytes. Contract: turn.h.
#include "kernels/engine/int8/turn.h"

void ember_turn(int8_t *to, const int8_t *from, int32_t rows, int32_t columns) {
    for (int32_t i = 0; i < rows; i++) {
        int8_t *at = to + i;
        for (int32_t j = columns; j > 0; j--) {
            *at = *from++;
            at += rows;
        }
    }
}
