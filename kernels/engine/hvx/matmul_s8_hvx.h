// SPDX-License-Identifier: Apache-2.0
// Products of int8 matrices (matmul_s8.h) with Hexagon's vectors: rows of a as the
// pixels of an image, rows of b as filters of one tap. If a has few rows, each is
// multiplied by b in place.
#ifndef EMBER_KERNELS_ENGINE_HVX_MATMUL_S8_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_MATMUL_S8_HVX_H

#include "kernels/engine/hvx/columns_hvx.h"
#include "kernels/engine/int8/matmul_s8.h"

typedef struct ember_matmul_s8_hvx {
    ember_matmul_s8_t matmul;
    ember_columns_hvx_t columns;
    bool few; // rows of a
    int8_t *scratch;
} ember_matmul_s8_hvx_t;

// Takes `hvx->matmul`, which is read already. UNSUPPORTED when its scale or its sizes
// are not for this.
EMBER_MUST_USE ember_status_t ember_matmul_s8_hvx_prepare(ember_matmul_s8_hvx_t *hvx,
                                                          ember_node_t *node);
// `ending` may be NULL: that of cortex_m.
void ember_matmul_s8_hvx_run(const ember_matmul_s8_hvx_t *hvx,
                             const ember_ending_hvx_t *ending);

// One row of a by all of b; `scratch` has EMBER_ROW_HVX_BYTES and a row of a, rounded
// up to vectors, and one more.
enum { EMBER_ROW_HVX_BYTES = 16 * 128 };
void ember_row_s8_hvx(const ember_matmul_s8_t *s, const int8_t *a, const int8_t *b,
                      int8_t *c, int8_t *scratch, const ember_ending_hvx_t *ending);

#endif // EMBER_KERNELS_ENGINE_HVX_MATMUL_S8_HVX_H
