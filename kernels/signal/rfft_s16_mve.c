// SPDX-License-Identifier: Apache-2.0
// rfft_s16 with Helium, four complex numbers at a time; exact. Neighbours q have the
// same roots; with s = 1 those are neighbours p, as in fft_mve.c.
#include <arm_mve.h>

#include "kernels/signal/rfft_s16_pass.h"

enum { LANES = 4, EVEN = 0x3333 };

// The largest and the smallest of all numbers that were stored.
typedef struct range {
    int16x8_t most;
    int16x8_t least;
} range_t;

INLINE range_t range_of_zero(void) {
    return (range_t){vdupq_n_s16(0), vdupq_n_s16(0)};
}

INLINE magnitude_t magnitude_by(const range_t *range) {
    return magnitude_of(vmaxvq_s16(0, range->most)) |
           magnitude_of(vminvq_s16(0, range->least));
}

INLINE int16x8_t load(const ember_pair_s16_t *x) {
    return vldrhq_s16(&x->re);
}

INLINE void note(range_t *range, int16x8_t numbers) {
    range->most = vmaxq_s16(range->most, numbers);
    range->least = vminq_s16(range->least, numbers);
}

INLINE void store(ember_pair_s16_t *y, int16x8_t numbers, range_t *range) {
    vstrhq_s16(&y->re, numbers);
    note(range, numbers);
}

// Words `step` apart.
INLINE uint32x4_t apart(uint32_t step) {
    return vmulq_n_u32(vidupq_n_u32(0, 1), step);
}

INLINE int16x8_t gather(const ember_pair_s16_t *x, uint32x4_t offsets) {
    const int32_t *words = (const int32_t *)(const void *)x;
    return vreinterpretq_s16_s32(vldrwq_gather_shifted_offset_s32(words, offsets));
}

INLINE int16x8_t same(const ember_pair_s16_t *w) {
    return gather(w, vdupq_n_u32(0));
}

INLINE int16x8_t add(int16x8_t a, int16x8_t b, uint32_t halvings) {
    return halvings > 0 ? vhaddq_s16(a, b) : vaddq_s16(a, b);
}

INLINE int16x8_t sub(int16x8_t a, int16x8_t b, uint32_t halvings) {
    return halvings > 0 ? vhsubq_s16(a, b) : vsubq_s16(a, b);
}

// a + i b and a - i b
INLINE int16x8_t add_i(int16x8_t a, int16x8_t b, uint32_t halvings) {
    return halvings > 0 ? vhcaddq_rot90_s16(a, b) : vcaddq_rot90_s16(a, b);
}

INLINE int16x8_t sub_i(int16x8_t a, int16x8_t b, uint32_t halvings) {
    return halvings > 0 ? vhcaddq_rot270_s16(a, b) : vcaddq_rot270_s16(a, b);
}

INLINE int16x8_t mul(int16x8_t a, int16x8_t w) {
    return vqrdmladhxq_s16(vqrdmlsdhq_s16(a, a, w), a, w);
}

static magnitude_t products(const int16_t *x, const int16_t *window, uint32_t width) {
    int32x4_t most = vdupq_n_s32(0);
    int32x4_t least = vdupq_n_s32(0);
    for (uint32_t left = width / 8; left > 0; left--, x += 8, window += 8) {
        const int16x8_t a = vldrhq_s16(x);
        const int16x8_t b = vldrhq_s16(window);
        const int32x4_t even = vmullbq_int_s16(a, b);
        const int32x4_t odd = vmulltq_int_s16(a, b);
        most = vmaxq_s32(most, vmaxq_s32(even, odd));
        least = vminq_s32(least, vminq_s32(even, odd));
    }
    return magnitude_of(vmaxvq_s32(0, most)) | magnitude_of(vminvq_s32(0, least)) |
           ember_rfft_s16_products(x, window, width % 8);
}

static magnitude_t fill(const int16_t *x, const int16_t *window, uint32_t width,
                        uint32_t shift, int16_t *y) {
    range_t range = range_of_zero();
    for (uint32_t left = width / 8; left > 0; left--, x += 8, window += 8, y += 8) {
        const int16x8_t a = vldrhq_s16(x);
        const int16x8_t b = vldrhq_s16(window);
        const int32x4_t even = vrshlq_n_s32(vmullbq_int_s16(a, b), -(int32_t)shift);
        const int32x4_t odd = vrshlq_n_s32(vmulltq_int_s16(a, b), -(int32_t)shift);
        const int16x8_t numbers = vqmovntq_s32(vqmovnbq_s32(a, even), odd);
        vstrhq_s16(y, numbers);
        note(&range, numbers);
    }
    return magnitude_by(&range) | ember_rfft_s16_fill(x, window, width % 8, shift, y);
}

// What a butterfly of radix 4 makes of its inputs, before the roots.
typedef struct quarters {
    int16x8_t at[4];
} quarters_t;

INLINE quarters_t quarters_of(const ember_pair_s16_t *x, size_t far,
                              uint32_t halvings) {
    const uint32_t first = halvings > 0;
    const uint32_t second = halvings > 1;
    const int16x8_t a = load(x);
    const int16x8_t b = load(x + far);
    const int16x8_t c = load(x + 2 * far);
    const int16x8_t d = load(x + 3 * far);
    const int16x8_t even = add(a, c, first);
    const int16x8_t half = sub(a, c, first);
    const int16x8_t odd = add(b, d, first);
    const int16x8_t back = sub(b, d, first);
    return (quarters_t){{add(even, odd, second), sub_i(half, back, second),
                         sub(even, odd, second), add_i(half, back, second)}};
}

// Neighbours p of the first pass, of which there are a multiple of four.
INLINE magnitude_t first_fours(const pass_t *pass, uint32_t halvings) {
    const magnitude_t start = ember_rfft_s16_fours(pass, LANES);
    const uint32x4_t offsets = apart(3);
    range_t range = range_of_zero();
    for (uint32_t p = LANES; p < pass->m; p += LANES) {
        const ember_pair_s16_t *w = pass->twist + (size_t)(p - 1) * 3;
        const quarters_t made = quarters_of(pass->x + p, pass->m, halvings);
        int32x4x4_t numbers;
        numbers.val[0] = vreinterpretq_s32_s16(made.at[0]);
        note(&range, made.at[0]);
        for (uint32_t u = 1; u < 4; u++) {
            const int16x8_t turned = mul(made.at[u], gather(w + u - 1, offsets));
            numbers.val[u] = vreinterpretq_s32_s16(turned);
            note(&range, turned);
        }
        vst4q_s32((int32_t *)(void *)(pass->y + (size_t)p * 4), numbers);
    }
    return start | magnitude_by(&range);
}

// Neighbours q of one p. Without `twist` roots are 1.
INLINE void next_fours(const pass_t *pass, uint32_t p, const ember_pair_s16_t *twist,
                       uint32_t halvings, range_t *range) {
    const size_t step = pass->s;
    const ember_pair_s16_t *x = pass->x + step * p;
    ember_pair_s16_t *y = pass->y + 4 * step * p;
    int16x8_t w[4];
    for (uint32_t u = 1; twist != NULL && u < 4; u++) {
        w[u] = same(twist + u - 1);
    }
    for (uint32_t q = 0; q < step; q += LANES) {
        const quarters_t made = quarters_of(x + q, step * pass->m, halvings);
        store(y + q, made.at[0], range);
        for (uint32_t u = 1; u < 4; u++) {
            store(y + q + step * u, twist != NULL ? mul(made.at[u], w[u]) : made.at[u],
                  range);
        }
    }
}

INLINE magnitude_t four_halved(const pass_t *pass, uint32_t halvings) {
    if (pass->s == 1) {
        return first_fours(pass, halvings);
    }
    const ember_pair_s16_t *twist = pass->twist;
    range_t range = range_of_zero();
    next_fours(pass, 0, NULL, halvings, &range);
    for (uint32_t p = 1; p < pass->m; p++, twist += 3) {
        next_fours(pass, p, twist, halvings, &range);
    }
    return magnitude_by(&range);
}

static magnitude_t four(const pass_t *pass) {
    if (pass->s == 1 && pass->m < LANES) {
        return ember_rfft_s16_fours(pass, pass->m);
    }
    return pass->halvings == 0   ? four_halved(pass, 0)
           : pass->halvings == 1 ? four_halved(pass, 1)
                                 : four_halved(pass, 2);
}

static magnitude_t two(const pass_t *pass) {
    if (pass->s < LANES) {
        return ember_rfft_s16_two(pass);
    }
    range_t range = range_of_zero();
    for (uint32_t q = 0; q < pass->s; q += LANES) {
        const int16x8_t a = load(pass->x + q);
        const int16x8_t b = load(pass->x + q + pass->s);
        store(pass->y + q, add(a, b, pass->halvings), &range);
        store(pass->y + q + pass->s, sub(a, b, pass->halvings), &range);
    }
    return magnitude_by(&range);
}

// Elements k to k + 3 and those across from them.
INLINE void split_four(ember_pair_s16_t *low, ember_pair_s16_t *high,
                       const ember_pair_s16_t *roots, uint32_t halvings) {
    const uint32x4_t falling = apart((uint32_t)-1);
    const int16x8_t a = load(low);
    const int16x8_t b = gather(high, falling);
    const int16x8_t sum = vhaddq_s16(a, b);
    const int16x8_t difference = vhsubq_s16(a, b);
    const int16x8_t even = vpselq_s16(sum, difference, EVEN);
    const int16x8_t odd = vpselq_s16(difference, sum, EVEN);
    const int16x8_t made = mul(odd, load(roots));
    const int16x8_t re = sub(even, made, halvings);
    const int16x8_t rest = vpselq_s16(re, sub(made, even, halvings), EVEN);
    vstrhq_s16(&low->re, add(even, made, halvings));
    vstrwq_scatter_shifted_offset_s32((int32_t *)(void *)high, falling,
                                      vreinterpretq_s32_s16(rest));
}

static void split(ember_pair_s16_t *z, uint32_t h, const ember_pair_s16_t *roots,
                  uint32_t halvings) {
    uint32_t k = 1;
    for (; k + LANES <= h / 2; k += LANES) {
        split_four(z + k, z + h - k, roots + k - 1, halvings);
    }
    ember_rfft_s16_split(z, h, k, roots, halvings);
}

static int32_t run(void *state) {
    static const steps_t steps = {products, fill, four, two, split};
    run_by(state, &steps);
    return EMBER_OK;
}

// Complex numbers are gathered as words.
static bool has_words(const ember_rfft_s16_t *s) {
    return (((uintptr_t)s->z | (uintptr_t)s->roots) & (sizeof(int32_t) - 1)) == 0;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_status_t status = ember_rfft_s16_prepare(node, state);
    return status == EMBER_OK && !has_words(state)
               ? ember_node_fail(node, EMBER_UNSUPPORTED, "rfft_s16: unaligned words")
               : status;
}

EMBER_KERNEL(rfft_s16_mve, ember_rfft_s16_t);
