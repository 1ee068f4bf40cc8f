// SPDX-License-Identifier: Apache-2.0
// Products of matrices of the dialect that are those of cortex_m: int8, rows by rows,
// one scale. The engines of cortex_m multiply; sums become outputs in float32
// (kernels/engine/int8/real_s8.h).
#ifndef EMBER_KERNELS_CADENCE_LENT_PRODUCTS_H
#define EMBER_KERNELS_CADENCE_LENT_PRODUCTS_H

#include "kernels/cadence/products.h"
#include "kernels/engine/int8/matmul_s8.h"
#include "kernels/engine/int8/real_s8.h"

// Read a call for an engine; UNSUPPORTED when it is not for them.
EMBER_MUST_USE ember_status_t ember_lent_linear(ember_matmul_s8_t *matmul,
                                                ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_lent_matmul(ember_matmul_s8_t *matmul,
                                                ember_node_t *node);

#endif // EMBER_KERNELS_CADENCE_LENT_PRODUCTS_H
