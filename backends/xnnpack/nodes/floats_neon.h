// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes of float32 or float16 from memory to memory, four values at a
// time, clamped to the node's range.
#ifndef EMBER_XNNPACK_FLOATS_NEON_H
#define EMBER_XNNPACK_FLOATS_NEON_H

#include "broadcast.h"
#include "neon.h"

// Computes a row of float32 or float16.
void ember_xnn_neon_line(const ember_xnn_node_t *node, const ember_xnn_lines_t *line,
                         ember_neon_fours_fn compute);

// Whether the first `inputs` inputs and the output have the same of these two types.
bool ember_xnn_neon_floats(const ember_xnn_node_t *node, uint32_t inputs);

#endif // EMBER_XNNPACK_FLOATS_NEON_H
