// SPDX-License-Identifier: Apache-2.0
// Loops of element-wise NEON kernels, with the states of map_f32.h. Results are the
// portable kernels' bit for bit, except the bits of NaN.
#ifndef EMBER_KERNELS_ENGINE_NEON_MAP_F32_NEON_H
#define EMBER_KERNELS_ENGINE_NEON_MAP_F32_NEON_H

#include "kernels/engine/map_f32.h"
#include "kernels/engine/neon/fours_neon.h"

// Elements of a turn of the loop: enough that its overhead hardly counts.
enum { EMBER_NEON_ROUND = 16 };

// y[i] = f(x[i]), i < count; y may be x.
EMBER_NEON_INLINE void neon_map_1(float *y, const float *x, uint32_t count,
                                  neon_one_fn f) {
    for (; count >= EMBER_NEON_ROUND; count -= EMBER_NEON_ROUND) {
        const float32x4_t made[] = {f(vld1q_f32(x)), f(vld1q_f32(x + 4)),
                                    f(vld1q_f32(x + 8)), f(vld1q_f32(x + 12))};
        for (uint32_t i = 0; i < 4; i++) {
            vst1q_f32(y, made[i]);
            y += 4;
        }
        x += EMBER_NEON_ROUND;
    }
    for (; count >= 4; count -= 4) {
        vst1q_f32(y, f(vld1q_f32(x)));
        x += 4;
        y += 4;
    }
    for (; count > 0; count--) {
        *y++ = vgetq_lane_f32(f(vdupq_n_f32(*x++)), 0);
    }
}

EMBER_NEON_INLINE float32x4_t neon_four(const float *x, uint32_t step) {
    return step == 0 ? vdupq_n_f32(*x) : vld1q_f32(x);
}

// y[i] = f(a[i], b[i]), i < count. Steps are constants, 1 or 0; y may be an operand of
// step 1.
EMBER_NEON_INLINE void neon_map_2(float *y, const float *a, uint32_t a_step,
                                  const float *b, uint32_t b_step, uint32_t count,
                                  neon_two_fn f) {
    for (; count >= EMBER_NEON_ROUND; count -= EMBER_NEON_ROUND) {
        float32x4_t made[4];
        for (uint32_t i = 0; i < 4; i++) {
            made[i] = f(neon_four(a + (size_t)4 * i * a_step, a_step),
                        neon_four(b + (size_t)4 * i * b_step, b_step));
        }
        for (uint32_t i = 0; i < 4; i++) {
            vst1q_f32(y, made[i]);
            y += 4;
        }
        a += EMBER_NEON_ROUND * a_step;
        b += EMBER_NEON_ROUND * b_step;
    }
    for (; count >= 4; count -= 4) {
        vst1q_f32(y, f(neon_four(a, a_step), neon_four(b, b_step)));
        a += (size_t)4 * a_step;
        b += (size_t)4 * b_step;
        y += 4;
    }
    for (; count > 0; count--) {
        *y++ = vgetq_lane_f32(f(vdupq_n_f32(*a), vdupq_n_f32(*b)), 0);
        a += a_step;
        b += b_step;
    }
}

// An ember_row_f32_fn. The repeated operand may not be y, so it is read once.
EMBER_NEON_INLINE void neon_row_2(float *y, const float *a, uint32_t a_step,
                                  const float *b, uint32_t b_step, uint32_t count,
                                  neon_two_fn f) {
    if (count == 0) {
        return;
    }
    if (a_step == 0) {
        const float same = *a;
        neon_map_2(y, &same, 0, b, 1, count, f);
    } else if (b_step == 0) {
        const float same = *b;
        neon_map_2(y, a, 1, &same, 0, count, f);
    } else {
        neon_map_2(y, a, 1, b, 1, count, f);
    }
}

// The run functions of two operands in one layout, and of one repeated along the other.
#define EMBER_NEON_MAP_F32_2(NAME, FUNCTION)                                           \
    static int32_t run(void *state) {                                                  \
        const ember_map_f32_2_t *s = state;                                            \
        neon_map_2(s->y, s->a, 1, s->b, 1, s->count, FUNCTION);                        \
        return EMBER_OK;                                                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_map_f32_2_t)
#define EMBER_NEON_MAP_F32_BROADCAST(NAME, FUNCTION)                                   \
    static void row(float *y, const float *a, uint32_t a_step, const float *b,         \
                    uint32_t b_step, uint32_t count) {                                 \
        neon_row_2(y, a, a_step, b, b_step, count, FUNCTION);                          \
    }                                                                                  \
    static int32_t run(void *state) {                                                  \
        ember_map_f32_broadcast_run(state, row);                                       \
        return EMBER_OK;                                                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_map_f32_broadcast_t)

#endif // EMBER_KERNELS_ENGINE_NEON_MAP_F32_NEON_H
