// SPDX-License-Identifier: Apache-2.0
// packed_conv2d_s8_dsp: with the DSP instructions. Contract: packed_dsp.h.
#include "kernels/engine/dsp/packed_run_dsp.h"

static void set_scales(const ember_packed_dsp_t *s) {
    const ember_scales_s8_t *scales = &s->conv.scales;

    for (int32_t f = 0; f < s->conv.filters; f++) {
        ember_quad_dsp_t *quad = &s->by[f / EMBER_PACKED_FOUR];
        const int32_t place = f % EMBER_PACKED_FOUR;
        const ember_filter_dsp_t by =
            ember_filter_dsp(0, scales->multipliers[f], scales->shifts[f]);
        quad->by[place].multiplier = by.multiplier;
        quad->by[place].power = ember_power_dsp(by);
    }
}

static void multiply(const ember_packed_dsp_t *s, ember_quads_dsp_t *tiles) {
    const ember_limits_s8_t limits = s->conv.scales.limits;
    const int32_t columns = tiles->y[0] == tiles->y[1] ? 1 : 2 * tiles->pairs;
    const int32_t count = EMBER_PACKED_FOUR * tiles->quads * columns;
    int8_t *y = tiles->y[0];

    ember_quads_dsp(tiles);
    if (limits.low > INT8_MIN || limits.high < INT8_MAX) {
        for (int32_t i = 0; i < count; i++) {
            y[i] = ember_limit_s8(y[i], limits);
        }
    }
}

static int32_t run(void *state) {
    const ember_packed_dsp_t *s = state;

    ember_packed_dsp_begin(s);
    set_scales(s);
    run_packed(s, 2 * s->conv.scales.zero_point + 1);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_packed_dsp_t *s = state;
    const ember_conv_s8_t *conv = &s->conv;
    const ember_status_t status = ember_packed_s8_args(&s->conv, node, &s->fours);

    if (status != EMBER_OK) {
        return status;
    }
    if (conv->rows != EMBER_ROWS_NORMAL || conv->scales.shifts == NULL ||
        !ember_powers_fit_dsp(conv->scales.shifts, conv->filters)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cortex_m: not supported with DSP");
    }
    return ember_packed_dsp_prepare(s, node);
}

EMBER_KERNEL(packed_conv2d_s8_dsp, ember_packed_dsp_t);
