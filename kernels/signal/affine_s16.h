// SPDX-License-Identifier: Apache-2.0
// affine_s16: rows of int16 times a matrix, or each number times one of its own, to
// int16 or int8.
//
//     out[.., j] = (sum over k of x[.., k] * weights[j, k] + bias[j]) / 2^shift
//     out[.., j] = (x[.., j] * weights[j] + bias[j]) / 2^shift
//
//     x        (.., n)
//     weights  (m, n) or (m,)  int16
//     bias     (m,)            int32
//     shift    from 1 to 31
//     bits     16 or 8
//     out      (.., m)         int16 or int8; rounded to nearest, ties up; saturated
//
// Sums are exact.
#ifndef EMBER_KERNELS_SIGNAL_AFFINE_S16_H
#define EMBER_KERNELS_SIGNAL_AFFINE_S16_H

#include "ember/node.h"
#include "kernels/engine/dot_s16.h"

typedef struct ember_affine_s16 {
    const int16_t *x;       // (rows, n)
    const int16_t *weights; // (m, reach)
    const int32_t *bias;    // (m,)
    void *y;                // (rows, m)
    uint32_t rows;
    uint32_t n;
    uint32_t m;
    uint32_t reach; // numbers of a result: n or 1
    uint32_t step;  // from those of a result to those of the next
    uint32_t shift;
    uint32_t bits;
} ember_affine_s16_t;

ember_status_t ember_affine_s16_prepare(ember_node_t *node, ember_affine_s16_t *s);

void ember_affine_s16_run(const ember_affine_s16_t *s, ember_dot_s16_fn dot);

#endif // EMBER_KERNELS_SIGNAL_AFFINE_S16_H
