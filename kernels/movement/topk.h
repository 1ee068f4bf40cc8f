// SPDX-License-Identifier: Apache-2.0
// The first elements of a line in order, with equal ones in the order of the C++
// library.
#ifndef EMBER_KERNELS_MOVEMENT_TOPK_H
#define EMBER_KERNELS_MOVEMENT_TOPK_H

#include "kernels/engine/sort.h"

// Whether k is so small that a heap is used.
bool ember_topk_is_few(const ember_sort_t *sort);

// One line; scratch for its keys and positions, or just for k of them if k is small.
void ember_topk_line(const ember_sort_t *sort, char *values, char *indices,
                     const char *self);

#endif // EMBER_KERNELS_MOVEMENT_TOPK_H
