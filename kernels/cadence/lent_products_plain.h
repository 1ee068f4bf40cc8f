// SPDX-License-Identifier: Apache-2.0
// Products of matrices of the dialect by the plain C of cortex_m.
#ifndef EMBER_KERNELS_CADENCE_LENT_PRODUCTS_PLAIN_H
#define EMBER_KERNELS_CADENCE_LENT_PRODUCTS_PLAIN_H

#include "kernels/cadence/lent_products.h"

void ember_lent_products_plain(const ember_matmul_s8_t *matmul);

#endif // EMBER_KERNELS_CADENCE_LENT_PRODUCTS_PLAIN_H
