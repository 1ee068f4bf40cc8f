// SPDX-License-Identifier: Apache-2.0
// cadence_matmul with Helium. Contract: dots.h.
#include "kernels/cadence/dots.h"

EMBER_DOTS_KERNEL(cadence_matmul_mve, products, products,
                  ember_cadence_matmul(&s->products, node), ember_dots_mve);
