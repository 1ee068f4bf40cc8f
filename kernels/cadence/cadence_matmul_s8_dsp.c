// SPDX-License-Identifier: Apache-2.0
// cadence_matmul_s8 with the DSP instructions. Contract: lent_products_dsp.h.
#include "kernels/cadence/lent_products_dsp.h"

EMBER_LENT_PRODUCTS_DSP_KERNEL(cadence_matmul_s8_dsp, ember_lent_matmul);
