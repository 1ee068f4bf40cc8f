// SPDX-License-Identifier: Apache-2.0
// A tensor seen through strides: what permute, slice, expand and the like change.
//
// Views are on the stack of `prepare`. Strides are in bytes and may be zero (broadcast)
// or negative (flip). The view of an empty tensor keeps the sizes; all its strides are
// zero.
//
// Small steps, so that an operator's prepare reads as what it does:
//
//     ember_view_arg(&view, node, SELF);
//     ember_view_slice(&view, dim, start, count, step);
//     return ember_copy_output(copy, node, OUT, &view);
#ifndef EMBER_KERNELS_ENGINE_VIEW_H
#define EMBER_KERNELS_ENGINE_VIEW_H

#include "ember/node.h"

// Operators split dimensions (repeat, pixel_shuffle), so views may have more
// dimensions than tensors.
#define EMBER_VIEW_RANK (EMBER_MAX_RANK + 8)

typedef struct ember_view {
    void *data;     // of the tensor; may be NULL
    int32_t offset; // bytes from data to element (0, 0, ...)
    uint8_t dtype;
    uint8_t element_size; // bytes
    uint8_t rank;
    int32_t sizes[EMBER_VIEW_RANK];   // elements, >= 0
    int32_t strides[EMBER_VIEW_RANK]; // bytes
} ember_view_t;

// The tensor as it is.
void ember_view_tensor(ember_view_t *view, const ember_tensor_t *tensor);

// The tensor of argument `arg`. If the node has failed, a view of rank 0 without
// elements; test the node's status before relying on a size.
void ember_view_arg(ember_view_t *view, ember_node_t *node, uint32_t arg);

// Elements of a view; at most INT64_MAX, which stands for "too many".
int64_t ember_view_numel(const ember_view_t *view);

// Keeps `count` elements of `dim` from `start`, `step` apart. The last one,
// start + (count - 1) * step, must exist when count > 0.
void ember_view_slice(ember_view_t *view, uint32_t dim, int32_t start, int32_t count,
                      int32_t step);

// Reverses `dim`.
void ember_view_flip(ember_view_t *view, uint32_t dim);

// Removes `dim`, keeping its element 0.
void ember_view_drop(ember_view_t *view, uint32_t dim);

// Inserts a dimension before `dim`. The view must have room.
void ember_view_insert(ember_view_t *view, uint32_t dim, int32_t size, int32_t stride);

// Splits `dim` into (size / inner, inner); `inner` > 0 must divide its size.
void ember_view_split(ember_view_t *view, uint32_t dim, int32_t inner);

// Exchanges two dimensions.
void ember_view_swap(ember_view_t *view, uint32_t a, uint32_t b);

// Moves dimension `from` to position `to`; the ones between move up.
void ember_view_move(ember_view_t *view, uint32_t from, uint32_t to);

// Broadcasts to `sizes`: dimensions of size 1 and missing leading ones repeat. False if
// a size does not fit.
EMBER_MUST_USE bool ember_view_expand(ember_view_t *view, uint32_t rank,
                                      const int32_t *sizes);

#endif // EMBER_KERNELS_ENGINE_VIEW_H
