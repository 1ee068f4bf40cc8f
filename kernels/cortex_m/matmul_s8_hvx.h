// SPDX-License-Identifier: Apache-2.0
// The dialect's linear and batch_matmul with Hexagon's vectors: rows of a as the pixels
// of an image, rows of b as filters of one tap. Of few rows of a, each is multiplied by
// b as it lies.
#ifndef EMBER_KERNELS_CORTEX_M_MATMUL_S8_HVX_H
#define EMBER_KERNELS_CORTEX_M_MATMUL_S8_HVX_H

#include "kernels/cortex_m/columns_hvx.h"
#include "kernels/cortex_m/matmul_s8.h"

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
// `ending` may be NULL: that of this dialect.
void ember_matmul_s8_hvx_run(const ember_matmul_s8_hvx_t *hvx,
                             const ember_ending_hvx_t *ending);

// One row of a by all of b; `scratch` has EMBER_ROW_HVX_BYTES and a row of a, rounded
// up to vectors, and one more.
enum { EMBER_ROW_HVX_BYTES = 16 * 128 };
void ember_row_s8_hvx(const ember_matmul_s8_t *s, const int8_t *a, const int8_t *b,
                      int8_t *c, int8_t *scratch, const ember_ending_hvx_t *ending);

#endif // EMBER_KERNELS_CORTEX_M_MATMUL_S8_HVX_H
