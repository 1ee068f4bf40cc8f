// SPDX-License-Identifier: Apache-2.0
// Arguments of a call, applied to views: ATen's rules for dimensions, slices and
// selects. Failures are recorded on the node; the caller tests its status.
#ifndef EMBER_KERNELS_ENGINE_VIEW_ARGS_H
#define EMBER_KERNELS_ENGINE_VIEW_ARGS_H

#include "kernels/engine/view.h"

// A dimension from a list: negative ones count from the end. The result is in [0,
// max(rank, 1)); 0 and a failure if it is invalid.
uint32_t ember_wrap_dim(ember_node_t *node, int64_t dim, uint32_t rank);

// The dimensions that the list `arg` names, each once: bit d stands for dimension d.
uint32_t ember_listed_dims(ember_node_t *node, uint32_t arg, uint32_t rank);

// Slices by the arguments (dim, start, end, step) from `arg` on; start and end are
// clamped as in Python.
void ember_view_slice_args(ember_view_t *view, ember_node_t *node, uint32_t arg);

// Selects by the arguments (dim, index) from `arg` on; the dimension goes away.
void ember_view_select_args(ember_view_t *view, ember_node_t *node, uint32_t arg);

// Reads a shape in which one size may be -1, for `numel` elements. Returns the rank.
uint32_t ember_shape_args(ember_node_t *node, uint32_t arg, uint32_t numel,
                          int32_t sizes[EMBER_MAX_RANK]);

#endif // EMBER_KERNELS_ENGINE_VIEW_ARGS_H
