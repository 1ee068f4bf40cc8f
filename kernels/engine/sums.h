// SPDX-License-Identifier: Apache-2.0
// How reductions accumulate rows of numbers (reduce.h). Float sums are compensated from
// row to row: as exact as pairwise summation, without its memory.
#ifndef EMBER_KERNELS_ENGINE_SUMS_H
#define EMBER_KERNELS_ENGINE_SUMS_H

#include "kernels/engine/reduce.h"

void ember_sum_f32(ember_sum_t *sum, const void *x, uint32_t count);
void ember_sum_f64(ember_sum_t *sum, const void *x, uint32_t count);
void ember_sum_s64(ember_sum_t *sum, const void *x, uint32_t count);

// Fails `node` unless a mean's dtype is a float: that of argument `arg`, or if it is
// None the input's.
void ember_mean_check(ember_node_t *node, const ember_tensor_t *x, uint32_t arg);

// Divides by the number of elements.
void ember_mean_f32(ember_sum_t *sum);
void ember_mean_f64(ember_sum_t *sum);

// The largest or smallest number and its first index; NaN wins.
void ember_max_f32(ember_sum_t *sum, const void *x, uint32_t count);
void ember_max_f64(ember_sum_t *sum, const void *x, uint32_t count);
void ember_max_s64(ember_sum_t *sum, const void *x, uint32_t count);
void ember_min_f32(ember_sum_t *sum, const void *x, uint32_t count);
void ember_min_f64(ember_sum_t *sum, const void *x, uint32_t count);
void ember_min_s64(ember_sum_t *sum, const void *x, uint32_t count);

// Variance in two passes; `argument` is subtracted from the number of elements.
void ember_var_take_f32(ember_sum_t *sum, const void *x, uint32_t count);
void ember_var_take_f64(ember_sum_t *sum, const void *x, uint32_t count);
void ember_var_finish_f32(ember_sum_t *sum);
void ember_var_finish_f64(ember_sum_t *sum);

#endif // EMBER_KERNELS_ENGINE_SUMS_H
