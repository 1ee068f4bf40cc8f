// SPDX-License-Identifier: Apache-2.0
// Contract: transpose_hvx.h. A vector of each row becomes pieces of columns by shuffles
// of two vectors, with growing elements. Columns are written in order as whole vectors:
// what is clobbered after one is written next.
#include "kernels/movement/transpose_hvx.h"

#include <stddef.h>

#include "kernels/cortex_m/scale_hvx.h"

enum { ROWS = EMBER_TRANSPOSE_HVX_ROWS };

// Vectors of groups of rows: elements of a column side by side, columns in order.
typedef struct tile {
    HVX_Vector of[2][ROWS];
} tile_t;

// Joins neighbouring groups of `each` vectors: elements of `size` bytes of both side by
// side.
static void merge(const HVX_Vector *from, HVX_Vector *to, int32_t rows, int32_t each,
                  int32_t size) {
    for (int32_t i = 0; i < rows; i += 2 * each) {
        for (int32_t k = 0; k < each; k++) {
            const HVX_Vector low = ember_hvx_load(from + i + k);
            const HVX_Vector high = ember_hvx_load(from + i + each + k);
            const HVX_VectorPair both = Q6_W_vshuff_VVR(high, low, -size);
            ember_hvx_store(to + i + 2 * k, Q6_V_lo_W(both));
            ember_hvx_store(to + i + 2 * k + 1, Q6_V_hi_W(both));
        }
    }
}

// Loads up to a vector of each row; `rows` is a power of two.
static void load(tile_t *tile, const ember_transpose_hvx_t *s, const uint8_t *from,
                 int32_t rows, int32_t bytes) {
    for (int32_t i = 0; i < rows; i++) {
        HVX_Vector row = Q6_V_vzero();
        if (i < s->rows) {
            row = ember_load_left_hvx((const int8_t *)from, bytes);
            from += s->row;
        }
        ember_hvx_store(&tile->of[0][i], row);
    }
}

static const HVX_Vector *turn(tile_t *tile, int32_t rows, int32_t size) {
    int32_t now = 0;
    for (int32_t each = 1; each < rows; each *= 2) {
        merge(tile->of[now], tile->of[1 - now], rows, each, size * each);
        now = 1 - now;
    }
    return tile->of[now];
}

// Columns, `width` bytes apart in the vectors, `step` in the destination. Returns where
// they continue.
static uint8_t *put(uint8_t *to, const uint8_t *end, const HVX_Vector *from,
                    int32_t width, int32_t step, int32_t columns) {
    while (columns > 0) {
        HVX_Vector some = ember_hvx_load(from++);
        for (int32_t at = 0; at < EMBER_HVX && columns > 0; at += width, columns--) {
            if (end - to >= EMBER_HVX) {
                ember_hvx_store_any(to, some);
            } else {
                ember_hvx_store_part(to, some, step);
            }
            some = Q6_V_vror_VR(some, width);
            to += step;
        }
    }
    return to;
}

void ember_transpose_hvx(const ember_transpose_hvx_t *s, uint8_t *to,
                         const uint8_t *from) {
    const int32_t step = s->rows * s->size;
    const int32_t most = EMBER_HVX / s->size;
    const uint8_t *end = to + (ptrdiff_t)s->columns * step;
    tile_t tile;
    int32_t rows = 1;
    while (rows < s->rows) {
        rows *= 2;
    }
    for (int32_t j = 0; j < s->columns; j += most, from += EMBER_HVX) {
        const int32_t left = s->columns - j;
        const int32_t some = left < most ? left : most;
        load(&tile, s, from, rows, some * s->size);
        to = put(to, end, turn(&tile, rows, s->size), rows * s->size, step, some);
    }
}
