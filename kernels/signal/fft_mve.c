// SPDX-License-Identifier: Apache-2.0
// The discrete Fourier transform with Helium: passes of radix 4 and 2, two complex
// numbers at a time. Those of odd radices are portable.
//
// Passes of radix 4 come first, so that their s is 1 or a multiple of 4. Neighbours q
// have the same roots; with s = 1 those are neighbours p, whose roots and results are
// apart in memory.
#include "kernels/signal/pairs_mve.h"

#include "kernels/signal/fft_pass.h"

// What a butterfly of radix 4 makes of its inputs, before the roots.
typedef struct quarters {
    float32x4_t at[4];
} quarters_t;

INLINE quarters_t quarters_of(const ember_complex_t *x, uint32_t far) {
    const float32x4_t a = ember_pairs_load(x);
    const float32x4_t b = ember_pairs_load(x + far);
    const float32x4_t c = ember_pairs_load(x + 2 * (size_t)far);
    const float32x4_t d = ember_pairs_load(x + 3 * (size_t)far);
    const float32x4_t even = vaddq_f32(a, c);
    const float32x4_t half = vsubq_f32(a, c);
    const float32x4_t odd = vaddq_f32(b, d);
    const float32x4_t back = vsubq_f32(b, d);
    return (quarters_t){{vaddq_f32(even, odd), vcaddq_rot270_f32(half, back),
                         vsubq_f32(even, odd), vcaddq_rot90_f32(half, back)}};
}

// Neighbours p of the first pass; the first of all has no roots.
static void first_fours(const pass_t *s) {
    const uint32x4_t wide = ember_pairs_offsets(4);
    const uint32x4_t apart = ember_pairs_offsets(3);
    const ember_complex_t *w = s->twist;
    uint32_t p = 1;
    ember_fft_four(s, s->x, s->y, NULL);
    for (; p + 1 < s->m; p += 2, w += 6) {
        const quarters_t made = quarters_of(s->x + p, s->m);
        ember_complex_t *y = s->y + (size_t)p * 4;
        ember_pairs_scatter(y, wide, made.at[0]);
        for (uint32_t u = 1; u < 4; u++) {
            const float32x4_t roots = ember_pairs_gather(w + u - 1, apart);
            ember_pairs_scatter(y + u, wide, ember_pairs_mul(made.at[u], roots));
        }
    }
    if (p < s->m) {
        ember_fft_four(s, s->x + p, s->y + (size_t)p * 4, w);
    }
}

// Neighbours q, of which there is an even number.
static void plain_fours(const pass_t *s, const ember_complex_t *x, ember_complex_t *y) {
    for (uint32_t q = 0; q < s->s; q += 2) {
        const quarters_t made = quarters_of(x + q, s->s * s->m);
        for (uint32_t u = 0; u < 4; u++) {
            ember_pairs_store(y + q + (size_t)s->s * u, made.at[u]);
        }
    }
}

static void twisted_fours(const pass_t *s, const ember_complex_t *x, ember_complex_t *y,
                          const ember_complex_t *w) {
    const uint32x4_t same = ember_pairs_offsets(0);
    const float32x4_t first = ember_pairs_gather(w, same);
    const float32x4_t second = ember_pairs_gather(w + 1, same);
    const float32x4_t third = ember_pairs_gather(w + 2, same);
    const uint32_t step = s->s;
    for (uint32_t q = 0; q < step; q += 2) {
        const quarters_t made = quarters_of(x + q, step * s->m);
        ember_complex_t *to = y + q;
        ember_pairs_store(to, made.at[0]);
        ember_pairs_store(to + step, ember_pairs_mul(made.at[1], first));
        ember_pairs_store(to + 2 * (size_t)step, ember_pairs_mul(made.at[2], second));
        ember_pairs_store(to + 3 * (size_t)step, ember_pairs_mul(made.at[3], third));
    }
}

static void fours(const pass_t *s) {
    if (s->s == 1) {
        first_fours(s);
        return;
    }
    const ember_complex_t *w = s->twist;
    plain_fours(s, s->x, s->y);
    for (uint32_t p = 1; p < s->m; p++, w += 3) {
        const size_t at = (size_t)s->s * p;
        twisted_fours(s, s->x + at, s->y + 4 * at, w);
    }
}

static void twos(const pass_t *s) {
    const uint32_t step = s->s;
    if (step % 2 != 0 || s->m > 1) {
        ember_fft_two(s);
        return;
    }
    for (uint32_t q = 0; q < step; q += 2) {
        const float32x4_t a = ember_pairs_load(s->x + q);
        const float32x4_t b = ember_pairs_load(s->x + q + step);
        ember_pairs_store(s->y + q, vaddq_f32(a, b));
        ember_pairs_store(s->y + q + step, vsubq_f32(a, b));
    }
}

const ember_complex_t *ember_fft_mve(const ember_complex_t *x, ember_complex_t *y,
                                     ember_complex_t *spare, uint32_t n,
                                     const ember_complex_t *roots) {
    return fft_by(x, y, spare, n, roots, fours, twos, ember_fft_odd);
}
