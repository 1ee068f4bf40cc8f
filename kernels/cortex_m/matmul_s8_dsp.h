// SPDX-License-Identifier: Apache-2.0
// The dialect's linear and batch_matmul with the DSP instructions: one row of a
// with two of b at a time.
#ifndef EMBER_KERNELS_CORTEX_M_MATMUL_S8_DSP_H
#define EMBER_KERNELS_CORTEX_M_MATMUL_S8_DSP_H

#include "kernels/cortex_m/matmul_s8.h"

typedef struct ember_matmul_s8_dsp {
    ember_matmul_s8_t matmul;
    uint32_t *words; // (fours of inner, 2) a row of a as int16: even and odd elements
} ember_matmul_s8_dsp_t;

// Takes `dsp->matmul`, which is read already. UNSUPPORTED when its scale is not for
// these kernels.
EMBER_MUST_USE ember_status_t ember_matmul_s8_dsp_prepare(ember_matmul_s8_dsp_t *dsp,
                                                          ember_node_t *node);
void ember_matmul_s8_dsp_run(const ember_matmul_s8_dsp_t *dsp);

#endif // EMBER_KERNELS_CORTEX_M_MATMUL_S8_DSP_H
