// SPDX-License-Identifier: Apache-2.0
// y = a where it is positive, else 0, float32 in one layout; NaN stays. Helium.
#include <arm_mve.h>

#include "kernels/elementwise/relu_f32.h"
#include "kernels/engine/map_f32.h"

static int32_t run(void *state) {
    const ember_map_f32_1_t *s = state;
    const int32_t *a = (const int32_t *)(const void *)s->a;
    int32_t *y = (int32_t *)(void *)s->y;
    const int32x4_t zero = vdupq_n_s32(0);

    for (int32_t left = (int32_t)s->count; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const int32x4_t bits = vldrwq_z_s32(a, lanes);
        const mve_pred16_t none = vcmpleq_n_s32(bits, EMBER_RELU_ZERO_UNTIL);
        vstrwq_p_s32(y, vpselq_s32(zero, bits, none), lanes);
        a += 4;
        y += 4;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_map_f32_1_prepare(node, state);
}

EMBER_KERNEL(relu_f32_mve, ember_map_f32_1_t);
