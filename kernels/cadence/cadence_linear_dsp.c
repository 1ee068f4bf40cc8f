// SPDX-License-Identifier: Apache-2.0
// cadence_linear with the DSP instructions. Contract: dots.h.
#include "kernels/cadence/dots.h"

EMBER_DOTS_KERNEL(cadence_linear_dsp, products, products,
                  ember_cadence_linear(&s->products, node), ember_dots_dsp);
