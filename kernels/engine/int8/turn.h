// SPDX-License-Identifier: Apache-2.0
// Transposes matrices of bytes: channels first become channels last, and the other way
// round.
#ifndef EMBER_KERNELS_ENGINE_INT8_TURN_H
#define EMBER_KERNELS_ENGINE_INT8_TURN_H

#include <stdint.h>

// Makes (columns, rows) of (rows, columns); the areas must be disjoint.
typedef void (*ember_turn_t)(int8_t *to, const int8_t *from, int32_t rows,
                             int32_t columns);
void ember_turn(int8_t *to, const int8_t *from, int32_t rows, int32_t columns);
void ember_turn_dsp(int8_t *to, const int8_t *from, int32_t rows, int32_t columns);
void ember_turn_mve(int8_t *to, const int8_t *from, int32_t rows, int32_t columns);

#endif // EMBER_KERNELS_ENGINE_INT8_TURN_H
