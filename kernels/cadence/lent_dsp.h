// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect with the DSP instructions, by the engines of cortex_m.
#ifndef EMBER_KERNELS_CADENCE_LENT_DSP_H
#define EMBER_KERNELS_CADENCE_LENT_DSP_H

#include "kernels/cadence/lent.h"
#include "kernels/engine/dsp/columns_dsp.h"
#include "kernels/engine/dsp/depthwise_s8_dsp.h"

typedef struct ember_lent_dsp {
    ember_lent_t lent;
    union {
        ember_conv_s8_t conv; // of either engine, which begins with it
        ember_columns_dsp_t columns;
        ember_depthwise_s8_dsp_t depthwise;
    };
} ember_lent_dsp_t;

EMBER_MUST_USE ember_status_t ember_lent_dsp_prepare(ember_lent_dsp_t *s,
                                                     const ember_conv_s8_t *conv,
                                                     ember_node_t *node);
void ember_lent_dsp_run(const ember_lent_dsp_t *s);

#endif // EMBER_KERNELS_CADENCE_LENT_DSP_H
