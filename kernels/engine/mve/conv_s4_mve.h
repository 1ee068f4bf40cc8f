// SPDX-License-Identifier: Apache-2.0
// Layers with weights of int4 with Helium: filters are widened to a tile
// and multiplied as columns_mve.h has it; one row of a linear layer is multiplied with
// weights as they lie.
#ifndef EMBER_KERNELS_ENGINE_MVE_CONV_S4_MVE_H
#define EMBER_KERNELS_ENGINE_MVE_CONV_S4_MVE_H

#include "kernels/engine/int8/conv_s4.h"
#include "kernels/engine/mve/columns_mve.h"

typedef struct ember_conv_s4_mve {
    ember_columns_mve_t columns; // its scratch is that of a chunk of filters
    ember_weights_s4_t weights;
} ember_conv_s4_mve_t;

// Take `s->columns.conv`, which has been read; UNSUPPORTED as the products of columns.
// `row`: the one column of a linear layer, with a bias and without an offset of its
// input.
EMBER_MUST_USE ember_status_t ember_conv_s4_mve_prepare(ember_conv_s4_mve_t *s,
                                                        ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_row_s4_mve_prepare(ember_conv_s4_mve_t *s,
                                                       ember_node_t *node);

void ember_conv_s4_mve_run(const ember_conv_s4_mve_t *s);
void ember_row_s4_mve_run(const ember_conv_s4_mve_t *s);

#endif // EMBER_KERNELS_ENGINE_MVE_CONV_S4_MVE_H
