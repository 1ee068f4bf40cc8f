// SPDX-License-Identifier: Apache-2.0
// Shapes and layouts of tensors.
#include "ember/tensor.h"

#include <string.h>

uint32_t ember_dtype_size(uint32_t dtype) {
    // By number; there is a gap before U16.
    static const uint8_t sizes[] = {1, 1, 2, 4, 8, 2, 4, 8, 0, 0, 0, 1, 0, 0, 0, 2};
    if (dtype < sizeof(sizes)) {
        return sizes[dtype];
    }
    return dtype >= EMBER_U16 && dtype <= EMBER_U64 ? 2u << (dtype - EMBER_U16) : 0;
}

void ember_tensor_strides(const ember_tensor_t *tensor, int32_t *strides) {
    int32_t stride = tensor->numel != 0 ? 1 : 0;
    for (uint32_t i = tensor->rank; i-- > 0;) {
        const uint32_t dim = tensor->dim_order[i];
        strides[dim] = stride;
        stride *= tensor->sizes[dim];
    }
}

// Index in dim_order of the next dimension, from `at` on, with more than one element;
// rank if there is none.
static uint32_t next_real(const ember_tensor_t *tensor, uint32_t at) {
    while (at < tensor->rank && tensor->sizes[tensor->dim_order[at]] == 1) {
        at++;
    }
    return at;
}

bool ember_tensor_is_contiguous(const ember_tensor_t *tensor) {
    uint32_t last = 0;
    for (uint32_t i = next_real(tensor, 0); i < tensor->rank;
         i = next_real(tensor, i + 1)) {
        if (tensor->dim_order[i] < last) {
            return tensor->numel == 0;
        }
        last = tensor->dim_order[i];
    }
    return true;
}

bool ember_tensor_has_shape(const ember_tensor_t *tensor, uint32_t rank,
                            const int32_t *sizes) {
    if (tensor->rank != rank) {
        return false;
    }
    for (uint32_t i = 0; i < rank; i++) { // calling memcmp would take longer
        if (tensor->sizes[i] != sizes[i]) {
            return false;
        }
    }
    return true;
}

bool ember_tensor_same_shape(const ember_tensor_t *a, const ember_tensor_t *b) {
    return ember_tensor_has_shape(a, b->rank, b->sizes);
}

bool ember_tensor_same_order(const ember_tensor_t *a, const ember_tensor_t *b) {
    uint32_t i = 0;
    uint32_t j = 0;
    if (a->rank < 2 || a->dim_order == b->dim_order) { // the usual case
        return true;
    }
    while (i < a->rank && a->numel > 0) {
        if (a->sizes[a->dim_order[i]] == 1) {
            i++;
        } else if (a->sizes[b->dim_order[j]] == 1) {
            j++;
        } else if (a->dim_order[i++] != b->dim_order[j++]) {
            return false;
        }
    }
    return true;
}

bool ember_tensor_same_layout(const ember_tensor_t *a, const ember_tensor_t *b) {
    return ember_tensor_same_shape(a, b) && ember_tensor_same_order(a, b);
}
