// SPDX-License-Identifier: Apache-2.0
// rfft_s16 by the DSP extension, a complex number in a word; exact.
#include "kernels/signal/rfft_s16_pass.h"

#include <arm_dsp.h>
#include <arm_dsp_pairs.h>
#include <string.h>

enum { HALF = 1 << (FRACTION - 1) };

// Bits in which neighbours of a number's bits differ; bit 16 does not count.
typedef uint32_t changes_t;

INLINE uint32_t load(const ember_pair_s16_t *x) {
    uint32_t pair;
    memcpy(&pair, x, sizeof(pair));
    return pair;
}

INLINE changes_t store(ember_pair_s16_t *y, uint32_t pair) {
    memcpy(y, &pair, sizeof(pair));
    return pair ^ pair << 1;
}

INLINE magnitude_t magnitude_by(changes_t changes) {
    return ((changes | changes >> 16) & 0xfffe) >> 1;
}

INLINE uint32_t add(uint32_t a, uint32_t b, uint32_t halvings) {
    return halvings > 0 ? ember_pairs_half_add(a, b) : ember_pairs_add(a, b);
}

INLINE uint32_t sub(uint32_t a, uint32_t b, uint32_t halvings) {
    return halvings > 0 ? ember_pairs_half_sub(a, b) : ember_pairs_sub(a, b);
}

INLINE uint32_t add_i(uint32_t a, uint32_t b, uint32_t halvings) {
    return halvings > 0 ? ember_pairs_half_add_i(a, b) : ember_pairs_add_i(a, b);
}

INLINE uint32_t sub_i(uint32_t a, uint32_t b, uint32_t halvings) {
    return halvings > 0 ? ember_pairs_half_sub_i(a, b) : ember_pairs_sub_i(a, b);
}

static magnitude_t products(const int16_t *x, const int16_t *window, uint32_t width) {
    magnitude_t magnitude = 0;
    for (uint32_t left = width / 2; left > 0; left--, x += 2, window += 2) {
        uint32_t a;
        uint32_t b;
        memcpy(&a, x, sizeof(a));
        memcpy(&b, window, sizeof(b));
        magnitude |= magnitude_of(ember_smulbb(a, b));
        magnitude |= magnitude_of(ember_smultt(a, b));
    }
    return magnitude | ember_rfft_s16_products(x, window, width % 2);
}

static magnitude_t fill(const int16_t *x, const int16_t *window, uint32_t width,
                        uint32_t shift, int16_t *y) {
    const int32_t half = (int32_t)1 << shift >> 1;
    magnitude_t magnitude = 0;
    for (uint32_t left = width / 2; left > 0; left--, x += 2, window += 2, y += 2) {
        uint32_t a;
        uint32_t b;
        memcpy(&a, x, sizeof(a));
        memcpy(&b, window, sizeof(b));
        const int32_t low = ember_smlabb(a, b, half) >> shift;
        const int32_t high = ember_smlatt(a, b, half) >> shift;
        const uint32_t both = (uint16_t)low | (uint32_t)high << 16;
        memcpy(y, &both, sizeof(both));
        magnitude |= magnitude_of(low) | magnitude_of(high);
    }
    return magnitude | ember_rfft_s16_fill(x, window, width % 2, shift, y);
}

// Without `twist` roots are 1.
INLINE uint32_t turned(uint32_t a, const ember_pair_s16_t *twist, uint32_t w) {
    return twist != NULL ? ember_pairs_mul(a, w, HALF) : a;
}

// Butterflies of one p, for each q.
INLINE changes_t fours(const pass_t *pass, uint32_t p, const ember_pair_s16_t *twist,
                       uint32_t halvings) {
    const uint32_t first = halvings > 0;
    const uint32_t second = halvings > 1;
    const size_t step = pass->s;
    const size_t far = step * pass->m;
    const ember_pair_s16_t *x = pass->x + step * p;
    const ember_pair_s16_t *later = x + 2 * far;
    ember_pair_s16_t *y = pass->y + 4 * step * p;
    ember_pair_s16_t *behind = y + 2 * step;
    const uint32_t w1 = twist != NULL ? load(twist) : 0;
    const uint32_t w2 = twist != NULL ? load(twist + 1) : 0;
    const uint32_t w3 = twist != NULL ? load(twist + 2) : 0;
    changes_t changes = 0;
    for (const ember_pair_s16_t *end = x + step; x != end; x++, later++) {
        const uint32_t b = load(x + far);
        const uint32_t d = load(later + far);
        const uint32_t odd = add(b, d, first);
        const uint32_t back = sub(b, d, first);
        const uint32_t a = load(x);
        const uint32_t c = load(later);
        const uint32_t even = add(a, c, first);
        const uint32_t half = sub(a, c, first);
        changes |= store(y + step, turned(sub_i(half, back, second), twist, w1));
        changes |= store(y++, add(even, odd, second));
        changes |= store(behind + step, turned(add_i(half, back, second), twist, w3));
        changes |= store(behind++, turned(sub(even, odd, second), twist, w2));
    }
    return changes;
}

INLINE magnitude_t four_halved(const pass_t *pass, uint32_t halvings) {
    const ember_pair_s16_t *twist = pass->twist;
    changes_t changes = fours(pass, 0, NULL, halvings);
    for (uint32_t p = 1; p < pass->m; p++, twist += 3) {
        changes |= fours(pass, p, twist, halvings);
    }
    return magnitude_by(changes);
}

// Apart, so that each has its registers.
#define HALVED(name, halvings)                                                         \
    static                                                                             \
        __attribute__((noinline)) magnitude_t name##_##halvings(const pass_t *pass) {  \
        return name##_halved(pass, halvings);                                          \
    }

HALVED(four, 0)
HALVED(four, 1)
HALVED(four, 2)

static magnitude_t four(const pass_t *pass) {
    return pass->halvings == 0   ? four_0(pass)
           : pass->halvings == 1 ? four_1(pass)
                                 : four_2(pass);
}

INLINE magnitude_t two_halved(const pass_t *pass, uint32_t halvings) {
    const ember_pair_s16_t *x = pass->x;
    ember_pair_s16_t *y = pass->y;
    changes_t changes = 0;
    for (const ember_pair_s16_t *end = x + pass->s; x != end; x++, y++) {
        const uint32_t a = load(x);
        const uint32_t b = load(x + pass->s);
        changes |= store(y, add(a, b, halvings));
        changes |= store(y + pass->s, sub(a, b, halvings));
    }
    return magnitude_by(changes);
}

HALVED(two, 0)
HALVED(two, 1)

static magnitude_t two(const pass_t *pass) {
    return pass->halvings == 0 ? two_0(pass) : two_1(pass);
}

INLINE void split_halved(ember_pair_s16_t *z, uint32_t h, const ember_pair_s16_t *roots,
                         uint32_t halvings) {
    ember_pair_s16_t *low = z + 1;
    ember_pair_s16_t *high = z + h - 1;
    for (; low < high; low++, high--, roots++) {
        const uint32_t a = load(low);
        const uint32_t b = load(high);
        const uint32_t sum = ember_pairs_half_add(a, b);
        const uint32_t difference = ember_pairs_half_sub(a, b);
        const uint32_t even = ember_pairs_halves(sum, difference);
        const uint32_t odd = ember_pairs_halves(difference, sum);
        const uint32_t made = ember_pairs_mul(odd, load(roots), HALF);
        (void)store(low, add(even, made, halvings));
        (void)store(high, ember_pairs_halves(sub(even, made, halvings),
                                             sub(made, even, halvings)));
    }
}

static void split(ember_pair_s16_t *z, uint32_t h, const ember_pair_s16_t *roots,
                  uint32_t halvings) {
    if (halvings == 0) {
        split_halved(z, h, roots, 0);
    } else {
        split_halved(z, h, roots, 1);
    }
}

static int32_t run(void *state) {
    static const steps_t steps = {products, fill, four, two, split};
    run_by(state, &steps);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_rfft_s16_prepare(node, state);
}

EMBER_KERNEL(rfft_s16_dsp, ember_rfft_s16_t);
