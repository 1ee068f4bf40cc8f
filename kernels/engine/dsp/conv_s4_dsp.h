// SPDX-License-Identifier: Apache-2.0
// Layers with weights of int4 with the DSP instructions: filters are widened to a tile
// and multiplied as columns_dsp.h has it; one row of a linear layer is multiplied with
// weights as they lie.
#ifndef EMBER_KERNELS_ENGINE_DSP_CONV_S4_DSP_H
#define EMBER_KERNELS_ENGINE_DSP_CONV_S4_DSP_H

#include "kernels/engine/dsp/columns_dsp.h"
#include "kernels/engine/int8/conv_s4.h"

typedef struct ember_conv_s4_dsp {
    ember_columns_dsp_t columns; // its scratch is that of a chunk of filters
    ember_weights_s4_t weights;
} ember_conv_s4_dsp_t;

// Take `s->columns.conv`, which has been read; UNSUPPORTED as the products of columns.
// `row`: the one column of a linear layer.
EMBER_MUST_USE ember_status_t ember_conv_s4_dsp_prepare(ember_conv_s4_dsp_t *s,
                                                        ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_row_s4_dsp_prepare(ember_conv_s4_dsp_t *s,
                                                       ember_node_t *node);

void ember_conv_s4_dsp_run(const ember_conv_s4_dsp_t *s);
void ember_row_s4_dsp_run(const ember_conv_s4_dsp_t *s);

#endif // EMBER_KERNELS_ENGINE_DSP_CONV_S4_DSP_H
