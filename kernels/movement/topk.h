// SPDX-License-Identifier: Apache-2.0
// The first elements of a line in order, with equal ones as the C++ library leaves
// them.
#ifndef EMBER_KERNELS_MOVEMENT_TOPK_H
#define EMBER_KERNELS_MOVEMENT_TOPK_H

#include "kernels/engine/sort.h"

// Whether so few are wanted that a heap holds them.
bool ember_topk_is_few(const ember_sort_t *sort);

// One line; scratch for its keys and places, for those wanted where they are few.
void ember_topk_line(const ember_sort_t *sort, char *values, char *indices,
                     const char *self);

#endif // EMBER_KERNELS_MOVEMENT_TOPK_H
