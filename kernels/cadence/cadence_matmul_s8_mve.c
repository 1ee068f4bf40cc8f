// SPDX-License-Identifier: Apache-2.0
// cadence_matmul_s8 with Helium. Contract: lent_products_mve.h.
#include "kernels/cadence/lent_products_mve.h"

EMBER_LENT_PRODUCTS_MVE_KERNEL(cadence_matmul_s8_mve, ember_lent_matmul);
