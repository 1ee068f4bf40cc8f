// SPDX-License-Identifier: Apache-2.0
// cadence_matmul with the DSP instructions. Contract: dots.h.
#include "kernels/cadence/dots.h"

EMBER_DOTS_KERNEL(cadence_matmul_dsp, products, products,
                  ember_cadence_matmul(&s->products, node), ember_dots_dsp);
