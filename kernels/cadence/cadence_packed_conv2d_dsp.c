// SPDX-License-Identifier: Apache-2.0
// cadence_packed_conv2d with the DSP instructions. Contract: lent_packed.h.
#include "kernels/cadence/lent_packed.h"
#include "kernels/engine/dsp/packed_run_dsp.h"

typedef struct {
    ember_lent_t lent;
    union {
        ember_conv_s8_t conv; // of the engine, which begins with it
        ember_packed_dsp_t packed;
    };
} state_t;

static void multiply(const ember_packed_dsp_t *s, ember_quads_dsp_t *tiles) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    const ember_real_dsp_t by = {scales->scale, scales->inverse, scales->zero_point};

    ember_quads_real_dsp(tiles, &by);
}

static void compute(const state_t *s) {
    ember_packed_dsp_begin(&s->packed);
    run_packed(&s->packed, s->conv.scales.zero_point);
}

static ember_status_t prepare_state(state_t *s, ember_node_t *node) {
    const ember_status_t status =
        ember_lent_packed_args(&s->lent, &s->conv, node, &s->packed.fours);

    return status != EMBER_OK ? status : ember_packed_dsp_prepare(&s->packed, node);
}

EMBER_LENT_IMAGE_KERNEL(cadence_packed_conv2d_dsp, state_t, prepare_state, compute,
                        ember_turn_dsp);
