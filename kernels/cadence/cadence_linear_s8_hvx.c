// SPDX-License-Identifier: Apache-2.0
// cadence_linear_s8 with Hexagon's vectors. Contract: lent_products_hvx.h.
#include "kernels/cadence/lent_products_hvx.h"

EMBER_LENT_PRODUCTS_HVX_KERNEL(cadence_linear_s8_hvx, ember_lent_linear);
