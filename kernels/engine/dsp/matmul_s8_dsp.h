// SPDX-License-Identifier: Apache-2.0
// Products of int8 matrices (matmul_s8.h) with the DSP instructions: one row of a with
// two of b at a time.
#ifndef EMBER_KERNELS_ENGINE_DSP_MATMUL_S8_DSP_H
#define EMBER_KERNELS_ENGINE_DSP_MATMUL_S8_DSP_H

#include "kernels/engine/int8/matmul_s8.h"

typedef struct ember_matmul_s8_dsp {
    ember_matmul_s8_t matmul;
    uint32_t *words; // (fours of inner, 2) a row of a as int16: even and odd elements
} ember_matmul_s8_dsp_t;

// Takes `dsp->matmul`, which is read already. UNSUPPORTED when its scale is not for
// these kernels.
EMBER_MUST_USE ember_status_t ember_matmul_s8_dsp_prepare(ember_matmul_s8_dsp_t *dsp,
                                                          ember_node_t *node);

// How `count` sums become outputs; NULL: as in cortex_m. `base` is added to each, and
// the bias from `at` on.
typedef void (*ember_matmul_ending_dsp_t)(const ember_matmul_s8_t *matmul,
                                          const int32_t *sums, int32_t count,
                                          int32_t base, int32_t at, int8_t *c);
void ember_matmul_s8_dsp_run(const ember_matmul_s8_dsp_t *dsp,
                             ember_matmul_ending_dsp_t ending);

// For other scales: bytes of the words of a row, and the sums of the products of row
// `a` with `count` rows of b; `dsp` has words, inner and offsets.
size_t ember_matmul_s8_dsp_bytes(int32_t inner);
void ember_matmul_s8_dsp_sums(const ember_matmul_s8_dsp_t *dsp, const int8_t *a,
                              const int8_t *b, int32_t count, int32_t *sums);
// The same without offsets: of `inner` > 0 elements, with words for them.
void ember_matmul_s8_dsp_products(uint32_t *words, int32_t inner, const int8_t *a,
                                  const int8_t *b, int32_t count, int32_t *sums);

#endif // EMBER_KERNELS_ENGINE_DSP_MATMUL_S8_DSP_H
