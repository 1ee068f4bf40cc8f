// SPDX-License-Identifier: Apache-2.0
// cadence_quantize with Helium: float32 to the full range of int8.
#include "kernels/quantized/quantize_per_tensor_f32.h"

static int32_t run(void *state) {
    return ember_quantize_f32_mve_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_quantize_cadence_prepare(node, state);
}

EMBER_KERNEL(cadence_quantize_mve, ember_quantize_f32_t);
