// SPDX-License-Identifier: Apache-2.0
// log_bands_s16: logarithms of the energies of spectra in bands, such as those of mel
// filters, in fixed point.
//
//     out[.., j] = 2^10 log2(floor / 2^45 + sum over i < length(j) of
//                            |z[.., first(j) + i] 2^e[..] / 2^15|^2
//                            * weights[at(j) + i] / 2^15)
//
//     z          (.., bins, 2)  int16, and
//     exponents  (..)           int32, as rfft_s16 gives them
//     bands      (m, 2)         int32: first(j) and length(j); at(j) is what lies
//     before weights    (count,)       int16, not negative: the ranges, one after the
//     other floor      from 1 to 2^45 out        (.., m)        int16, saturated
//
// Sums are exact. Where e is positive the floor is shifted by it, elsewhere the sum is,
// to the right by 2 |e|, and what is lost is below 1e-13 of full scale. The logarithm
// is a table of 33 numbers with straight lines between them: 2.0e-4 off, with its
// rounding 7e-4.
//
// Bands are read from data: DATA_RANGE if one exceeds z or the weights.
#ifndef EMBER_KERNELS_SIGNAL_LOG_BANDS_S16_H
#define EMBER_KERNELS_SIGNAL_LOG_BANDS_S16_H

#include "ember/node.h"

typedef struct ember_log_bands_s16 {
    const int16_t *z;         // (rows, bins, 2)
    const int32_t *exponents; // (rows,)
    const int32_t *bands;     // (m, 2)
    const int16_t *weights;   // (count,)
    int16_t *y;               // (rows, m)
    uint32_t *energies;       // (bins,), scratch
    uint64_t floor;
    uint32_t rows;
    uint32_t bins;
    uint32_t m;
    uint32_t count;
} ember_log_bands_s16_t;

// The energies of `bins` complex numbers.
typedef void (*ember_energies_fn)(const int16_t *z, uint32_t *energies, uint32_t bins);

// The exact sum of products.
typedef uint64_t (*ember_weigh_fn)(const uint32_t *energies, const int16_t *weights,
                                   uint32_t length);

ember_status_t ember_log_bands_s16_prepare(ember_node_t *node,
                                           ember_log_bands_s16_t *s);

int32_t ember_log_bands_s16_run(const ember_log_bands_s16_t *s,
                                ember_energies_fn energies, ember_weigh_fn weigh);

#endif // EMBER_KERNELS_SIGNAL_LOG_BANDS_S16_H
