// SPDX-License-Identifier: Apache-2.0
// Loops of element-wise Helium kernels, with the states of map_f32.h. Results are the
// portable kernels' bit for bit, but Helium flushes denormals to zero.
#ifndef EMBER_KERNELS_ENGINE_MVE_MAP_F32_MVE_H
#define EMBER_KERNELS_ENGINE_MVE_MAP_F32_MVE_H

#include <arm_mve.h>

#include "kernels/engine/map_f32.h"

#define EMBER_MVE_INLINE static inline __attribute__((always_inline))

typedef float32x4_t (*ember_mve_f32_fn)(float32x4_t a, float32x4_t b);

// y[i] = f(a[i], b[i]), i < count; y may be a or b.
EMBER_MVE_INLINE void ember_mve_map_2(float *y, const float *a, const float *b,
                                      uint32_t count, ember_mve_f32_fn f) {
    for (int32_t left = (int32_t)count; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        vstrwq_p_f32(y, f(vldrwq_z_f32(a, lanes), vldrwq_z_f32(b, lanes)), lanes);
        y += 4;
        a += 4;
        b += 4;
    }
}

// y[i] = f(a[i], b), or f(b, a[i]) when `swapped`, a constant.
EMBER_MVE_INLINE void ember_mve_map_1(float *y, const float *a, float b, bool swapped,
                                      uint32_t count, ember_mve_f32_fn f) {
    const float32x4_t same = vdupq_n_f32(b);

    for (int32_t left = (int32_t)count; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const float32x4_t x = vldrwq_z_f32(a, lanes);
        vstrwq_p_f32(y, swapped ? f(same, x) : f(x, same), lanes);
        y += 4;
        a += 4;
    }
}

// A whole run of a kernel of two operands in one layout.
EMBER_MVE_INLINE int32_t ember_mve_run_2(const ember_map_f32_2_t *s,
                                         ember_mve_f32_fn f) {
    ember_mve_map_2(s->y, s->a, s->b, s->count, f);
    return EMBER_OK;
}

// An ember_row_f32_fn.
EMBER_MVE_INLINE void ember_mve_row(float *y, const float *a, uint32_t a_step,
                                    const float *b, uint32_t b_step, uint32_t count,
                                    ember_mve_f32_fn f) {
    if (count == 0) {
        return;
    }
    if (a_step == 0) {
        ember_mve_map_1(y, b, *a, true, count, f);
    } else if (b_step == 0) {
        ember_mve_map_1(y, a, *b, false, count, f);
    } else {
        ember_mve_map_2(y, a, b, count, f);
    }
}

#endif // EMBER_KERNELS_ENGINE_MVE_MAP_F32_MVE_H
