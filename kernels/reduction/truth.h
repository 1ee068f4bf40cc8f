// SPDX-License-Identifier: Apache-2.0
// What all, any and prod share: calls that name dimensions, (self, dim, keepdim, ...),
// or none, (self, out) and (self, dtype, out); and how all and any accumulate.
#ifndef EMBER_KERNELS_REDUCTION_TRUTH_H
#define EMBER_KERNELS_REDUCTION_TRUTH_H

#include "kernels/engine/reduce.h"

// Reduces over the dimensions that the call names (an empty list: none), or over all.
EMBER_MUST_USE ember_status_t ember_reduce_named(ember_node_t *node,
                                                 ember_reduce_t *state,
                                                 const ember_reduce_ops_t *ops);

// Bits of ember_sum_t.index: what has been seen.
enum { EMBER_SEEN_ZERO = 1, EMBER_SEEN_OTHER = 2 };
void ember_truth_f32(ember_sum_t *sum, const void *x, uint32_t count);
void ember_truth_f64(ember_sum_t *sum, const void *x, uint32_t count);
void ember_truth_s64(ember_sum_t *sum, const void *x, uint32_t count);

#endif // EMBER_KERNELS_REDUCTION_TRUTH_H
