// SPDX-License-Identifier: Apache-2.0
// cadence_quantize with HVX: the range in the call is ignored.
#include "kernels/quantized/quantize_tensor_hvx.h"

static int32_t run(void *state) {
    return ember_quantize_tensor_hvx_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_quantize_f32_t *s = state;
    const ember_status_t status = ember_quantize_tensor_hvx_prepare(node, s);

    s->low = s->affine.integers == EMBER_U8 ? 0.0f : (float)INT8_MIN;
    s->high = s->low + 255.0f;
    s->nothing = (int32_t)s->low;
    return status;
}

EMBER_KERNEL(cadence_quantize_hvx, ember_quantize_f32_t);
