// SPDX-License-Identifier: Apache-2.0
// The discrete Fourier transform of any length, float32:
//
//     y[k] = sum over j < n of x[j] * exp(-2 pi i j k / n)            x, y: (n,)
//
// Stockham's self-sorting form: passes of radix 4, at most one of radix 2, and one for
// each odd prime factor. With n the length that is left, r the pass's radix, m = n / r
// and s the product of the radices before it, a pass is
//
//     y[q + s (r p + u)] = w(n)^(p u) * sum over v < r of x[q + s (p + m v)] w(r)^(u v)
//
// for p < m and q < s, where w(n) = exp(-2 pi i / n). A length of n takes about
// 4 n log2(n) operations if it is a power of 2; a factor f takes n f.
//
// Roots come as a constant, so that the device computes none: for each pass, in order,
// its r roots w(r)^k, k < r, if r is odd; then w(n)^(p u) for p from 1 and u from 1, u
// innermost. sdk/ember/export/operators/roots.py makes them.
#ifndef EMBER_KERNELS_SIGNAL_FFT_H
#define EMBER_KERNELS_SIGNAL_FFT_H

#include "ember/node.h"

// As torch.view_as_real has it.
typedef struct ember_complex {
    float re;
    float im;
} ember_complex_t;

// What a length takes.
typedef struct ember_fft_size {
    uint32_t roots;  // complex numbers
    uint32_t passes; // 0 for a length of 1
    uint32_t steps;  // for ember_node_work(), for each element
} ember_fft_size_t;

ember_fft_size_t ember_fft_size(uint32_t n);

// Transforms (n,) x to y. `spare` is scratch of n elements, not needed with one pass.
// None overlap, but x may be ember_fft_place(). Returns the first of `roots` not used.
const ember_complex_t *ember_fft(const ember_complex_t *x, ember_complex_t *y,
                                 ember_complex_t *spare, uint32_t n,
                                 const ember_complex_t *roots);

// The same with Helium: exact, but denormals are flushed to zero.
const ember_complex_t *ember_fft_mve(const ember_complex_t *x, ember_complex_t *y,
                                     ember_complex_t *spare, uint32_t n,
                                     const ember_complex_t *roots);

// Which of the two buffers holds an input that the transform may overwrite.
ember_complex_t *ember_fft_place(ember_complex_t *y, ember_complex_t *spare,
                                 uint32_t n);

static inline ember_complex_t ember_complex_add(ember_complex_t a, ember_complex_t b) {
    return (ember_complex_t){a.re + b.re, a.im + b.im};
}

static inline ember_complex_t ember_complex_sub(ember_complex_t a, ember_complex_t b) {
    return (ember_complex_t){a.re - b.re, a.im - b.im};
}

static inline ember_complex_t ember_complex_mul(ember_complex_t a, ember_complex_t b) {
    return (ember_complex_t){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline ember_complex_t ember_complex_conj(ember_complex_t a) {
    return (ember_complex_t){a.re, -a.im};
}

#endif // EMBER_KERNELS_SIGNAL_FFT_H
