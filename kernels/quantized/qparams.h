// SPDX-License-Identifier: Apache-2.0
// Choosing scales and zero points: the range of values, and arithmetic that is rounded
// to a dtype after each step, like PyTorch's.
#ifndef EMBER_KERNELS_QUANTIZED_QPARAMS_H
#define EMBER_KERNELS_QUANTIZED_QPARAMS_H

#include "kernels/engine/element.h"

// The range of `count` numbers of a real `dtype`, `step` bytes apart, including 0; NaN
// if one of them is NaN.
typedef struct ember_extent {
    double low;  // <= 0
    double high; // >= 0
} ember_extent_t;
ember_extent_t ember_extent_of(uint32_t dtype, const void *x, int32_t step,
                               uint32_t count);

// A number as an element of the real `dtype` would hold it.
double ember_rounded(uint32_t dtype, double number);

// The larger of two, NaN if one is NaN.
double ember_larger(double a, double b);

// Writes one element.
void ember_put_double(uint32_t dtype, void *to, double number);
void ember_put_int(uint32_t dtype, void *to, int64_t number);

#endif // EMBER_KERNELS_QUANTIZED_QPARAMS_H
