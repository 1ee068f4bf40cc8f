// SPDX-License-Identifier: Apache-2.0
// Products of one row of int8: sums of four, without tiles.
#ifndef EMBER_XNNPACK_SME_DOT_H
#define EMBER_XNNPACK_SME_DOT_H

#include "block.h"

// Sums of a column block, from `sums` on.
svint32x2_t xnn_sme_dot_block(const ember_xnn_sme_t *gemm, const uint8_t *w,
                              uint32_t columns,
                              svint32x2_t sums) __arm_streaming __arm_preserves("za");

#endif // EMBER_XNNPACK_SME_DOT_H
