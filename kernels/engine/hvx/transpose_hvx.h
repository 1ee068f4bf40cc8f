// SPDX-License-Identifier: Apache-2.0
// Transposes matrices with elements of 1, 2, 4 or 8 bytes, with HVX: channels first
// become channels last, and the other way round.
#ifndef EMBER_KERNELS_ENGINE_HVX_TRANSPOSE_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_TRANSPOSE_HVX_H

#include <stdbool.h>
#include <stdint.h>

enum { EMBER_TRANSPOSE_HVX_ROWS = 16 };

typedef struct ember_transpose_hvx {
    int32_t rows;    // of the source
    int32_t columns; // rows of the destination
    int32_t row;     // bytes from a row of the source to the next, of any sign
    int32_t size;    // of an element
    int32_t step;    // bytes from a row of the destination to the next: rows * size, or
                     // more
} ember_transpose_hvx_t;

// Whether it has few rows, and vectors are faster than single elements.
static inline bool ember_transpose_hvx_pays(const ember_transpose_hvx_t *transpose) {
    return transpose->rows > 1 && transpose->rows <= EMBER_TRANSPOSE_HVX_ROWS &&
           transpose->columns * transpose->size >= 32 &&
           (int64_t)transpose->rows * transpose->columns >= 128;
}

// The areas must be disjoint.
void ember_transpose_hvx(const ember_transpose_hvx_t *transpose, uint8_t *to,
                         const uint8_t *from);

#endif // EMBER_KERNELS_ENGINE_HVX_TRANSPOSE_HVX_H
