// SPDX-License-Identifier: Apache-2.0
// The passes of the formula of fft.h, and what runs them in a row; for fft.c and its
// variants.
#ifndef EMBER_KERNELS_SIGNAL_FFT_PASS_H
#define EMBER_KERNELS_SIGNAL_FFT_PASS_H

#include <string.h>

#include "kernels/signal/fft.h"

#define INLINE static inline __attribute__((always_inline))

// One pass: what the formula of fft.h names.
typedef struct pass {
    const ember_complex_t *x;
    ember_complex_t *y;
    uint32_t m;
    uint32_t s;
    uint32_t radix;
    const ember_complex_t *cycle; // (radix,) its roots, if it is odd
    const ember_complex_t *twist; // (m - 1, radix - 1)
} pass_t;

// Of the next pass: 4, 2, or the smallest odd factor.
INLINE uint32_t radix_of(uint32_t n) {
    if (n % 4 == 0) {
        return 4;
    }
    if (n % 2 == 0) {
        return 2;
    }
    for (uint32_t factor = 3; factor <= n / factor; factor += 2) {
        if (n % factor == 0) {
            return factor;
        }
    }
    return n;
}

// Passes in portable C.
void ember_fft_two(const pass_t *s);
void ember_fft_odd(const pass_t *s);

// One butterfly of radix 4 for each q; without `w` roots are 1.
void ember_fft_four(const pass_t *s, const ember_complex_t *x, ember_complex_t *y,
                    const ember_complex_t *w);

// All passes of a transform; `four_of` and its like are a pass each.
INLINE const ember_complex_t *
fft_by(const ember_complex_t *x, ember_complex_t *y, ember_complex_t *spare, uint32_t n,
       const ember_complex_t *roots, void (*four_of)(const pass_t *),
       void (*two_of)(const pass_t *), void (*odd_of)(const pass_t *)) {
    pass_t pass = {.x = x, .s = 1, .m = n};
    if (n == 1 && x != y) {
        memcpy(y, x, sizeof(*y));
    }
    // the last pass writes y, the one before it `spare`, and so on
    bool to_y = ember_fft_size(n).passes % 2 != 0;
    while (pass.m > 1) {
        pass.radix = radix_of(pass.m);
        pass.m /= pass.radix;
        pass.y = to_y ? y : spare;
        pass.cycle = roots;
        pass.twist = roots + (pass.radix % 2 != 0 ? pass.radix : 0);
        if (pass.radix == 4) {
            four_of(&pass);
        } else if (pass.radix == 2) {
            two_of(&pass);
        } else {
            odd_of(&pass);
        }
        roots = pass.twist + (size_t)(pass.m - 1) * (pass.radix - 1);
        pass.s *= pass.radix;
        pass.x = pass.y;
        to_y = !to_y;
    }
    return roots;
}

#endif // EMBER_KERNELS_SIGNAL_FFT_PASS_H
