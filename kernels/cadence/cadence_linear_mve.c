// SPDX-License-Identifier: Apache-2.0
// cadence_linear with Helium. Contract: dots.h.
#include "kernels/cadence/dots.h"

EMBER_DOTS_KERNEL(cadence_linear_mve, products, products,
                  ember_cadence_linear(&s->products, node), ember_dots_mve);
