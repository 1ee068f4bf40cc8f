// SPDX-License-Identifier: Apache-2.0
// choose_qparams_per_token_asymmetric of float32 with HVX, which looks for the ranges.
// Contract: choose_qparams_per_token_asymmetric.h.
#include "kernels/engine/hvx/extent_hvx.h"
#include "kernels/quantized/choose_qparams_per_token_asymmetric.h"

enum { FEW = 4, FLOAT = 4 }; // elements of a line; bytes

static ember_extent_t extent_of(uint32_t dtype, const void *x, int32_t step,
                                uint32_t count) {
    float low, high;

    (void)dtype;
    (void)step;
    ember_extent_hvx(x, count, &low, &high);
    return (ember_extent_t){(double)low, (double)high};
}

static int32_t run(void *state) {
    ember_choose_tokens_run(state, extent_of);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_choose_tokens_t *s = state;
    const ember_status_t status = ember_choose_tokens_prepare(node, state);

    if (status != EMBER_OK) {
        return status;
    }
    return s->x_dtype == EMBER_F32 && s->dims > 0 && s->step == FLOAT && s->count >= FEW
               ? EMBER_OK
               : ember_node_fail(node, EMBER_UNSUPPORTED,
                                 "choose_qparams_hvx: short lines, or not float32");
}

EMBER_KERNEL(choose_qparams_per_token_asymmetric_hvx, ember_choose_tokens_t);
