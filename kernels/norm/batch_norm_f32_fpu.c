// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with given statistics, float32, any one dim order, in the scalar
// unit of Cortex-M; exact.
#include <arm_fpu.h>

#include "kernels/norm/batch_norm_f32.h"

static void affine(const float *x, float *y, uint32_t count, uint32_t step, float scale,
                   float shift) {
    if (step == 1) {
        ember_fpu_affine(y, x, (int32_t)count, scale, shift);
        return;
    }
    for (; count > 0; count--) {
        *y = *x * scale + shift;
        x += step;
        y += step;
    }
}

static int32_t run(void *state) {
    ember_batch_norm_f32_each(state, affine);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_batch_norm_f32_prepare(node, state);
}

EMBER_KERNEL(batch_norm_f32_fpu, ember_batch_norm_f32_t);
