// SPDX-License-Identifier: Apache-2.0
// cadence_linear_s8 with Helium. Contract: lent_products_mve.h.
#include "kernels/cadence/lent_products_mve.h"

EMBER_LENT_PRODUCTS_MVE_KERNEL(cadence_linear_s8_mve, ember_lent_linear);
