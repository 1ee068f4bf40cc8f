// SPDX-License-Identifier: Apache-2.0
// choose_qparams of float32 with HVX, which looks for the range. Contract:
// choose_qparams.h.
#include "kernels/engine/hvx/extent_hvx.h"
#include "kernels/quantized/choose_qparams.h"

enum { FEW = 4 };

static int32_t run(void *state) {
    const ember_choose_qparams_t *s = state;
    float low, high;

    ember_extent_hvx(s->x, s->count, &low, &high);
    ember_choose_qparams_put(s, (ember_extent_t){(double)low, (double)high});
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_choose_qparams_t *s = state;
    const ember_status_t status = ember_choose_qparams_prepare(node, state);

    if (status == EMBER_OK && (s->x_dtype != EMBER_F32 || s->count < FEW)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "choose_qparams_hvx: few, or not float32");
    }
    return status;
}

EMBER_KERNEL(choose_qparams_hvx, ember_choose_qparams_t);
