// SPDX-License-Identifier: Apache-2.0
// Tensors: a typed view of memory that the tensor does not own.
//
// Sizes are in elements, outermost first, in PyTorch's logical order. `dim_order`
// gives the order of the dimensions in memory, outermost first: (0, 1, 2, 3) is
// contiguous, (0, 2, 3, 1) is channels_last. There are no gaps: strides follow
// from sizes and dim_order.
#ifndef EMBER_TENSOR_H
#define EMBER_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ember/config.h"

EMBER_C_BEGIN

// ExecuTorch's scalar type numbers. X(name, number, bytes per element)
#define EMBER_DTYPE_LIST(X)                                                            \
    X(U8, 0, 1)                                                                        \
    X(S8, 1, 1)                                                                        \
    X(S16, 2, 2)                                                                       \
    X(S32, 3, 4)                                                                       \
    X(S64, 4, 8)                                                                       \
    X(F16, 5, 2)                                                                       \
    X(F32, 6, 4)                                                                       \
    X(F64, 7, 8)                                                                       \
    X(B1, 11, 1)                                                                       \
    X(BF16, 15, 2)                                                                     \
    X(U16, 27, 2)                                                                      \
    X(U32, 28, 4)                                                                      \
    X(U64, 29, 8)

#define EMBER_DTYPE_ENUM(name, number, size) EMBER_##name = (number),
typedef enum ember_dtype { EMBER_DTYPE_LIST(EMBER_DTYPE_ENUM) } ember_dtype_t;
#undef EMBER_DTYPE_ENUM

typedef struct ember_tensor {
    void *data;               // NULL if nothing is bound yet, or numel is 0
    const int32_t *sizes;     // (rank,) elements; the current shape
    const uint8_t *dim_order; // (rank,)
    uint32_t numel;           // elements
    uint8_t dtype;            // ember_dtype_t
    uint8_t rank;             // dimensions, at most EMBER_MAX_RANK; 0: a scalar tensor
    uint8_t element_size;     // bytes
    bool constant;            // in the program or a data file: never write to it
} ember_tensor_t;

// Bytes of one element; 0 if `dtype` is not in the list.
uint32_t ember_dtype_size(uint32_t dtype);

// Bytes of the whole tensor.
static inline size_t ember_tensor_bytes(const ember_tensor_t *tensor) {
    return (size_t)tensor->numel * tensor->element_size;
}

// Writes the stride of each dimension to `strides` (rank,), in elements, in
// logical order; 0 where the tensor has no elements. In bytes, they fit in 31 bits.
void ember_tensor_strides(const ember_tensor_t *tensor, int32_t *strides);

// True if elements are in logical order, ignoring dimensions of size 1.
bool ember_tensor_is_contiguous(const ember_tensor_t *tensor);

// True if two tensors of equal shape (that of `a`) have the same dim_order as far as it
// matters: dimensions of size 1 may be anywhere, and so may all dimensions of an empty
// tensor.
bool ember_tensor_same_order(const ember_tensor_t *a, const ember_tensor_t *b);

// True if both have the same memory layout: equal shape and order.
bool ember_tensor_same_layout(const ember_tensor_t *a, const ember_tensor_t *b);

// True if the tensor has this rank and these sizes.
bool ember_tensor_has_shape(const ember_tensor_t *tensor, uint32_t rank,
                            const int32_t *sizes);

// True if rank and sizes are equal.
bool ember_tensor_same_shape(const ember_tensor_t *a, const ember_tensor_t *b);

EMBER_C_END

#endif // EMBER_TENSOR_H
