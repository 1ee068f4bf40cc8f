// SPDX-License-Identifier: Apache-2.0
// Products of int8 matrices (matmul_s8.h) with Helium: one row of a with four of b at a
// time.
#ifndef EMBER_KERNELS_ENGINE_MVE_MATMUL_S8_MVE_H
#define EMBER_KERNELS_ENGINE_MVE_MATMUL_S8_MVE_H

#include "kernels/engine/int8/matmul_s8.h"

typedef struct ember_matmul_s8_mve {
    ember_matmul_s8_t matmul;
    int32_t *sums; // (columns,) of what does not depend on a; NULL: the bias is all
} ember_matmul_s8_mve_t;

// Takes `mve->matmul`, which is read already. UNSUPPORTED when its scale is not for
// Helium.
EMBER_MUST_USE ember_status_t ember_matmul_s8_mve_prepare(ember_matmul_s8_mve_t *mve,
                                                          ember_node_t *node);

// How `count` sums become outputs; NULL: as in cortex_m.
typedef void (*ember_matmul_ending_mve_t)(const ember_matmul_s8_t *matmul,
                                          const int32_t *sums, int32_t count,
                                          int8_t *c);
void ember_matmul_s8_mve_run(const ember_matmul_s8_mve_t *mve,
                             ember_matmul_ending_mve_t ending);

// For other scales: sums[j] = first[j] + the products of row `a` with row j of b,
// without the offset of a, for `count` rows; `matmul` has inner and offsets.
void ember_matmul_s8_mve_sums(const ember_matmul_s8_t *matmul, const int32_t *first,
                              const int8_t *a, const int8_t *b, int32_t count,
                              int32_t *sums);
// What the offset of a adds to the products with each row: first[j].
void ember_matmul_s8_mve_first(const ember_matmul_s8_t *matmul, const int8_t *b,
                               int32_t count, int32_t *first);

#endif // EMBER_KERNELS_ENGINE_MVE_MATMUL_S8_MVE_H
