// SPDX-License-Identifier: Apache-2.0
// rfft: the discrete Fourier transforms of real rows, as torch.view_as_real() of
// torch.fft.rfft() has them, float32.
//
//     out[.., k] = sum over j < n of x[.., j] * exp(-2 pi i j k / n)   for k <= n / 2
//
//     x      (.., n)
//     roots  (count, 2)  those of ember_fft() for h = n / 2, then for each k from 1 to
//                        h / 2 exp(-2 pi i k / n); of ember_fft() for n if n is odd
//     out    (.., n / 2 + 1, 2)
//
// Two neighbours of a row are one complex number, so that half the length is
// transformed. A row of odd length is a complex one, which takes scratch for two.
#ifndef EMBER_KERNELS_SIGNAL_RFFT_H
#define EMBER_KERNELS_SIGNAL_RFFT_H

#include "kernels/signal/transform.h"

// Elements k and h - k of the transform of (h,) pairs become those of the row's.
void ember_rfft_split(ember_complex_t *y, uint32_t h, uint32_t k, ember_complex_t root);

// The first and the last element, which are real.
static inline void ember_rfft_ends(ember_complex_t *y, uint32_t h,
                                   ember_complex_t first) {
    y[0] = (ember_complex_t){first.re + first.im, 0.0f};
    y[h] = (ember_complex_t){first.re - first.im, 0.0f};
}

// Checks the call, and fills the state of all kernels.
ember_status_t ember_rfft_prepare(ember_node_t *node, ember_transform_t *s);

#endif // EMBER_KERNELS_SIGNAL_RFFT_H
