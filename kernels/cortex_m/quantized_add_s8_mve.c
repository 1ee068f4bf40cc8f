// SPDX-License-Identifier: Apache-2.0
// quantized_add with Helium, 16 elements at a time. Contract and formula:
// quantized_add_s8.h.
//
// Estimates of elements 0 to 3, 4 to 7, 8 to 11 and 12 to 15 are narrowed to bottom and
// top lanes in turn; a scattered store restores the order of the bytes.
#include <arm_mve.h>

#include "kernels/cortex_m/quantized_add_s8.h"

#define INLINE static inline __attribute__((always_inline))

enum { BLOCK = 16, POINT = EMBER_ADD_BITS - 16, HEADROOM = 20 };

static const uint8_t places[BLOCK] = {0, 8,  4, 12, 1, 9,  5, 13,
                                      2, 10, 6, 14, 3, 11, 7, 15};

// --- the sum as written ----------------------------------------------------------

INLINE int32x4_t scaled(int32x4_t x, ember_requantize_t by) {
    if (by.shift > 0) {
        x = vshlq_r_s32(x, by.shift);
    }
    x = vqrdmulhq_n_s32(x, by.multiplier);
    if (by.shift < 0) { // ties away from zero
        x = vrshlq_n_s32(vaddq_s32(x, vshrq_n_s32(x, 31)), by.shift);
    }
    return x;
}

INLINE int32x4_t part(const int8_t *x, int32_t zero, ember_requantize_t by,
                      mve_pred16_t lanes) {
    const int32x4_t moved = vsubq_n_s32(vldrbq_z_s32(x, lanes), zero);
    return scaled(vshlq_n_s32(moved, HEADROOM), by);
}

static __attribute__((noinline)) void exact(const ember_add_s8_t *s, const int8_t *a,
                                            const int8_t *b, int8_t *y,
                                            uint32_t count) {
    const int32x4_t low = vdupq_n_s32(s->limits.low);
    const int32x4_t high = vdupq_n_s32(s->limits.high);

    for (int32_t left = (int32_t)count; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const int32x4_t sum =
            vaddq_s32(part(a, s->a_zero, s->a, lanes), part(b, s->b_zero, s->b, lanes));
        const int32x4_t moved = vaddq_n_s32(scaled(sum, s->y), s->y_zero);
        vstrbq_p_s32(y, vminq_s32(vmaxq_s32(moved, low), high), lanes);
        a += 4;
        b += 4;
        y += 4;
    }
}

// --- estimates -------------------------------------------------------------------

// What the estimates of a row need, in registers.
typedef struct numbers {
    int32x4_t a_factor;
    int32_t b_factor;
    int32_t offset;
} numbers_t;

INLINE int32x4_t estimate(const int8_t *a, const int8_t *b, numbers_t by) {
    const int32x4_t first = vmlasq_n_s32(vldrbq_s32(a), by.a_factor, by.offset);
    return vmlaq_n_s32(first, vldrbq_s32(b), by.b_factor);
}

INLINE uint32x4_t fractions(int32x4_t e) {
    return vshlq_n_u32(vreinterpretq_u32_s32(e), 32 - EMBER_ADD_BITS);
}

// The upper halves of two vectors, interleaved.
INLINE int16x8_t halves(int32x4_t even, int32x4_t odd) {
    const int16x8_t low = vshrnbq_n_s32(vreinterpretq_s16_s32(even), even, 16);
    return vshrntq_n_s32(low, odd, 16);
}

INLINE int8x16_t bytes_of(int16x8_t even, int16x8_t odd) {
    const int8x16_t low = vqshrnbq_n_s16(vreinterpretq_s8_s16(even), even, POINT);
    return vqshrntq_n_s16(low, odd, POINT);
}

// Whole blocks. Not inlined: as an argument, the factor is the operand of VMLAS that
// stays unchanged.
static __attribute__((noinline)) void run_blocks(const ember_add_s8_t *s,
                                                 const int8_t *a, const int8_t *b,
                                                 int8_t *y, uint32_t blocks,
                                                 int32x4_t a_factor) {
    const numbers_t by = {a_factor, s->b_factor, s->offset};
    const uint32_t doubt = s->doubt;
    const int8x16_t low = vdupq_n_s8(s->limits.low);
    const int8x16_t high = vdupq_n_s8(s->limits.high);
    const uint8x16_t order = vldrbq_u8(places);

    for (; blocks > 0; blocks--, a += BLOCK, b += BLOCK, y += BLOCK) {
        const int32x4_t e0 = estimate(a, b, by);
        const int32x4_t e1 = estimate(a + 4, b + 4, by);
        const uint32x4_t f01 = vminq_u32(fractions(e0), fractions(e1));
        const int16x8_t even = halves(e0, e1);
        const int32x4_t e2 = estimate(a + 8, b + 8, by);
        const int32x4_t e3 = estimate(a + 12, b + 12, by);
        const uint32x4_t f23 = vminq_u32(fractions(e2), fractions(e3));
        const int8x16_t bytes = bytes_of(even, halves(e2, e3));
        if (vminvq_u32(doubt, vminq_u32(f01, f23)) < doubt) {
            exact(s, a, b, y, BLOCK);
        } else {
            vstrbq_scatter_offset_s8(y, order, vminq_s8(vmaxq_s8(bytes, low), high));
        }
    }
}

static void row(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    const ember_add_s8_t *s = state;
    const uint32_t done = count / BLOCK * BLOCK;

    run_blocks(s, a, b, y, count / BLOCK, vdupq_n_s32(s->a_factor));
    exact(s, a + done, b + done, y + done, count - done);
}

static int32_t run(void *state) {
    const ember_add_s8_t *s = state;
    ember_pair_s8_run(&s->pair, row, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_add_s8_t *s = state;
    const ember_status_t status = ember_add_s8_prepare(node, state);

    if (status == EMBER_OK &&
        (!ember_pair_s8_dense(&s->pair) || s->a.shift < -31 || s->b.shift < -31 ||
         s->y.shift < -31 || s->a.shift > 2 || s->b.shift > 2 || s->y.shift > 0)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_add_mve: steps");
    }
    return status;
}

EMBER_KERNEL(quantized_add_s8_mve, ember_add_s8_t);
