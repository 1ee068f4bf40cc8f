// SPDX-License-Identifier: Apache-2.0
// Steps of rfft_s16, and what runs them in a row; for rfft_s16.c and its variants.
#ifndef EMBER_KERNELS_SIGNAL_RFFT_S16_PASS_H
#define EMBER_KERNELS_SIGNAL_RFFT_S16_PASS_H

#include "kernels/signal/rfft_s16.h"

#define INLINE static inline __attribute__((always_inline))

enum { FRACTION = 15 };

// One pass: the names are those of fft.h.
typedef struct pass {
    const ember_pair_s16_t *x;
    ember_pair_s16_t *y;
    const ember_pair_s16_t *twist; // (m - 1, radix - 1)
    uint32_t m;
    uint32_t s;
    uint32_t halvings; // of its sums
} pass_t;

// What steps return: the bits in which numbers differ from their signs, of all numbers
// that they wrote. They are in [-2^k, 2^k) if it is below 2^k.
typedef uint32_t magnitude_t;

// The steps of a kernel.
typedef struct steps {
    // Of x times window, without writing it.
    magnitude_t (*products)(const int16_t *x, const int16_t *window, uint32_t width);
    // Writes x times window, shifted right by `shift` and rounded.
    magnitude_t (*fill)(const int16_t *x, const int16_t *window, uint32_t width,
                        uint32_t shift, int16_t *y);
    magnitude_t (*four)(const pass_t *pass);
    magnitude_t (*two)(const pass_t *pass);
    void (*split)(ember_pair_s16_t *z, uint32_t h, const ember_pair_s16_t *roots,
                  uint32_t halvings);
} steps_t;

// In portable C.
magnitude_t ember_rfft_s16_products(const int16_t *x, const int16_t *window,
                                    uint32_t width);
magnitude_t ember_rfft_s16_fill(const int16_t *x, const int16_t *window, uint32_t width,
                                uint32_t shift, int16_t *y);
magnitude_t ember_rfft_s16_two(const pass_t *pass);

// Butterflies of radix 4 for the first `count` of all p.
magnitude_t ember_rfft_s16_fours(const pass_t *pass, uint32_t count);

// Elements k and h - k, for k from `from` to h / 2 - 1; roots[0] is that of k = 1.
void ember_rfft_s16_split(ember_pair_s16_t *z, uint32_t h, uint32_t from,
                          const ember_pair_s16_t *roots, uint32_t halvings);

INLINE magnitude_t magnitude_of(int32_t number) {
    return (uint32_t)(number ^ (number >> 31));
}

// How often sums are halved, at most `most` times.
INLINE uint32_t halvings_of(magnitude_t magnitude, uint32_t most) {
    const uint32_t excess = magnitude >> (14 - most);
    return excess == 0 ? 0 : most == 1 || excess == 1 ? 1 : 2;
}

// The sum of two products, of which each has 30 fraction bits, rounded to 15.
INLINE int32_t rounded(int32_t a, int32_t b) {
    const uint32_t sum = (uint32_t)a + (uint32_t)b + (1u << (FRACTION - 1));
    return (int32_t)sum >> FRACTION;
}

// The elements 0, h / 2 and h.
INLINE void split_ends(ember_pair_s16_t *z, uint32_t h, uint32_t halvings) {
    const int32_t re = z[0].re;
    const int32_t im = z[0].im;
    z[0] = (ember_pair_s16_t){(int16_t)((re + im) >> halvings), 0};
    z[h] = (ember_pair_s16_t){(int16_t)((re - im) >> halvings), 0};
    z[h / 2].re = (int16_t)(z[h / 2].re >> halvings);
    z[h / 2].im = (int16_t)(-z[h / 2].im >> halvings);
}

INLINE uint32_t passes_of(uint32_t h) {
    uint32_t passes = 0;
    for (; h > 1; h = h % 4 == 0 ? h / 4 : h / 2) {
        passes++;
    }
    return passes;
}

// All passes over the numbers in z, or in scratch if the number of passes is odd.
// Returns how often sums were halved, with the split.
INLINE uint32_t transform(const ember_rfft_s16_t *s, ember_pair_s16_t *z,
                          magnitude_t magnitude, const steps_t *steps) {
    bool in_z = passes_of(s->h) % 2 == 0;
    const ember_pair_s16_t *roots = s->roots;
    uint32_t halved = 0;
    pass_t pass = {.m = s->h, .s = 1};
    while (pass.m > 1) {
        const uint32_t radix = pass.m % 4 == 0 ? 4 : 2;
        pass.x = in_z ? z : s->scratch;
        pass.y = in_z ? s->scratch : z;
        pass.twist = roots;
        pass.m /= radix;
        pass.halvings = halvings_of(magnitude, radix / 2);
        halved += pass.halvings;
        magnitude = radix == 4 ? steps->four(&pass) : steps->two(&pass);
        roots += (size_t)(pass.m - 1) * (radix - 1);
        pass.s *= radix;
        in_z = !in_z;
    }
    const uint32_t last = halvings_of(magnitude, 1);
    steps->split(z, s->h, roots, last);
    split_ends(z, s->h, last);
    return halved + last;
}

INLINE int32_t row_by(const ember_rfft_s16_t *s, const int16_t *x, ember_pair_s16_t *z,
                      const steps_t *steps) {
    enum { BITS = 14 }; // of a row's numbers when they are shifted
    uint32_t shift = 0;
    for (magnitude_t left = steps->products(x, s->window, s->width) >> BITS; left != 0;
         left >>= 1) {
        shift++;
    }
    ember_pair_s16_t *first = passes_of(s->h) % 2 == 0 ? z : s->scratch;
    int16_t *y = &first->re;
    const magnitude_t magnitude = steps->fill(x, s->window, s->width, shift, y);
    for (uint32_t i = s->width; i < 2 * s->h; i++) {
        y[i] = 0;
    }
    return (int32_t)shift - FRACTION + (int32_t)transform(s, z, magnitude, steps);
}

INLINE void run_by(const ember_rfft_s16_t *s, const steps_t *steps) {
    for (uint32_t i = 0; i < s->rows; i++) {
        const int16_t *x = s->x + (size_t)i * s->width;
        ember_pair_s16_t *z = s->z + (size_t)i * (s->h + 1);
        s->exponents[i] = row_by(s, x, z, steps);
    }
}

#endif // EMBER_KERNELS_SIGNAL_RFFT_S16_PASS_H
