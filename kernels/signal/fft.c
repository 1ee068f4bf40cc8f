// SPDX-License-Identifier: Apache-2.0
#include "kernels/signal/fft_pass.h"

#define add ember_complex_add
#define sub ember_complex_sub
#define mul ember_complex_mul

ember_fft_size_t ember_fft_size(uint32_t n) {
    ember_fft_size_t size = {0, 0, 1};
    while (n > 1) {
        const uint32_t radix = radix_of(n);
        n /= radix;
        size.passes++;
        size.steps += 4 * radix;
        size.roots += (n - 1) * (radix - 1) + (radix % 2 != 0 ? radix : 0);
    }
    return size;
}

// A factor of 1 where there is none: the compiler makes a copy without products.
INLINE ember_complex_t twisted(ember_complex_t a, const ember_complex_t *w) {
    return w != NULL ? mul(a, *w) : a;
}

INLINE void four(const pass_t *s, const ember_complex_t *x, ember_complex_t *y,
                 const ember_complex_t *w) {
    const uint32_t step = s->s;
    const uint32_t far = step * s->m;
    for (uint32_t q = 0; q < step; q++) {
        const ember_complex_t even = add(x[q], x[q + 2 * far]);
        const ember_complex_t half = sub(x[q], x[q + 2 * far]);
        const ember_complex_t odd = add(x[q + far], x[q + 3 * far]);
        const ember_complex_t back = sub(x[q + far], x[q + 3 * far]);
        const ember_complex_t turned = {back.im, -back.re};
        y[q] = add(even, odd);
        y[q + step] = twisted(add(half, turned), w);
        y[q + 2 * step] = twisted(sub(even, odd), w != NULL ? w + 1 : NULL);
        y[q + 3 * step] = twisted(sub(half, turned), w != NULL ? w + 2 : NULL);
    }
}

INLINE void two(const pass_t *s, const ember_complex_t *x, ember_complex_t *y,
                const ember_complex_t *w) {
    const uint32_t far = s->s * s->m;
    for (uint32_t q = 0; q < s->s; q++) {
        const ember_complex_t a = x[q];
        const ember_complex_t b = x[q + far];
        y[q] = add(a, b);
        y[q + s->s] = twisted(sub(a, b), w);
    }
}

// Outputs u and r - u of an odd radix: sums and differences of elements v and r - v
// take the real and the imaginary parts of the roots.
INLINE void pair(const pass_t *s, const ember_complex_t *x, uint32_t u,
                 ember_complex_t *low, ember_complex_t *high) {
    const uint32_t far = s->s * s->m;
    ember_complex_t even = x[0];
    ember_complex_t odd = {0.0f, 0.0f};
    uint32_t root = 0;
    for (uint32_t v = 1; v <= s->radix / 2; v++) {
        const ember_complex_t a = x[(size_t)far * v];
        const ember_complex_t b = x[(size_t)far * (s->radix - v)];
        const uint32_t left = s->radix - u;
        root = root >= left ? root - left : root + u;
        const ember_complex_t w = s->cycle[root];
        even.re += w.re * (a.re + b.re);
        even.im += w.re * (a.im + b.im);
        odd.re -= w.im * (a.im - b.im);
        odd.im += w.im * (a.re - b.re);
    }
    *low = add(even, odd);
    *high = sub(even, odd);
}

INLINE void odd(const pass_t *s, const ember_complex_t *x, ember_complex_t *y,
                const ember_complex_t *w) {
    const uint32_t far = s->s * s->m;
    const uint32_t step = s->s;
    for (uint32_t q = 0; q < step; q++) {
        ember_complex_t sum = x[q];
        for (uint32_t v = 1; v < s->radix; v++) {
            sum = add(sum, x[q + (size_t)far * v]);
        }
        y[q] = sum;
        for (uint32_t u = 1; u <= s->radix / 2; u++) {
            const uint32_t back = s->radix - u;
            ember_complex_t low;
            ember_complex_t high;
            pair(s, x + q, u, &low, &high);
            y[q + (size_t)step * u] = twisted(low, w != NULL ? w + u - 1 : NULL);
            y[q + (size_t)step * back] = twisted(high, w != NULL ? w + back - 1 : NULL);
        }
    }
}

#define EACH(butterflies)                                                              \
    static void each_##butterflies(const pass_t *s) {                                  \
        const ember_complex_t *w = s->twist;                                           \
        butterflies(s, s->x, s->y, NULL);                                              \
        for (uint32_t p = 1; p < s->m; p++, w += s->radix - 1) {                       \
            const size_t at = (size_t)s->s * p;                                        \
            butterflies(s, s->x + at, s->y + at * s->radix, w);                        \
        }                                                                              \
    }

EACH(four)
EACH(two)
EACH(odd)

// For variants, beside what is part of ember_fft().
void ember_fft_two(const pass_t *s) {
    each_two(s);
}

void ember_fft_odd(const pass_t *s) {
    each_odd(s);
}

void ember_fft_four(const pass_t *s, const ember_complex_t *x, ember_complex_t *y,
                    const ember_complex_t *w) {
    four(s, x, y, w);
}

const ember_complex_t *ember_fft(const ember_complex_t *x, ember_complex_t *y,
                                 ember_complex_t *spare, uint32_t n,
                                 const ember_complex_t *roots) {
    return fft_by(x, y, spare, n, roots, each_four, each_two, each_odd);
}

ember_complex_t *ember_fft_place(ember_complex_t *y, ember_complex_t *spare,
                                 uint32_t n) {
    return ember_fft_size(n).passes % 2 == 0 ? y : spare;
}
