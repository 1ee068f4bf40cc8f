// SPDX-License-Identifier: Apache-2.0
// rfft_s16: the discrete Fourier transforms of rows of int16, weighted by a window, in
// block floating point: int16 with an exponent for each row.
//
//     z[.., k] * 2^e[..] = sum over j < width of
//                          x[.., j] * window[j] / 2^15 * exp(-2 pi i j k / n)
//
//     x       (.., width)         width <= n; zeros follow
//     window  (width,)            15 fraction bits
//     roots   (count, 2)          15 fraction bits, of magnitude 1: those of fft.h for
//                                 h = n / 2, then for each k from 1 to h / 2 - 1
//                                 -i exp(-2 pi i k / n)
//     n                           a power of 2 from 4 to 2^15
//     out0    (.., n / 2 + 1, 2)  z
//     out1    (..)                int32: e
//
// What kernels compute, bit for bit:
//
// - With the least k >= 14 for which all products x window of a row are in [-2^k, 2^k),
//   they are shifted right by k - 14 and rounded to nearest, ties up. Two neighbours
//   are one complex number.
// - Passes of radix 4 and 2 over h numbers, as in fft.h. Sums are halved, rounded down,
//   in the first and the second layer of a pass if needed: not at all if all numbers
//   are in [-2^12, 2^12), once if in [-2^13, 2^13), twice otherwise; with radix 2 once
//   unless they are in [-2^13, 2^13). Numbers of a magnitude of 2^14.5 so stay below
//   it.
// - Products with roots have their sums rounded to nearest, ties up, once.
// - The split as in rfft.h, with `even` and `odd` halved, and sums as with radix 2.
#ifndef EMBER_KERNELS_SIGNAL_RFFT_S16_H
#define EMBER_KERNELS_SIGNAL_RFFT_S16_H

#include "ember/node.h"

typedef struct ember_pair_s16 {
    int16_t re;
    int16_t im;
} ember_pair_s16_t;

typedef struct ember_rfft_s16 {
    const int16_t *x;      // (rows, width)
    const int16_t *window; // (width,)
    const ember_pair_s16_t *roots;
    ember_pair_s16_t *z; // (rows, h + 1)
    int32_t *exponents;  // (rows,)
    ember_pair_s16_t *scratch;
    uint32_t rows;
    uint32_t width;
    uint32_t h;
} ember_rfft_s16_t;

ember_status_t ember_rfft_s16_prepare(ember_node_t *node, ember_rfft_s16_t *s);

#endif // EMBER_KERNELS_SIGNAL_RFFT_S16_H
