// SPDX-License-Identifier: Apache-2.0
// Arguments of pad: a value around a tensor of at most four dimensions. The lists have
// four items, first those of dimensions that the tensor lacks; for a channels_last
// tensor they are in the order (batch, height, width, channels).
#ifndef EMBER_KERNELS_CORTEX_M_PAD_ARGS_H
#define EMBER_KERNELS_CORTEX_M_PAD_ARGS_H

#include "kernels/engine/pad.h"

enum { EMBER_PAD_VALUE = 3, EMBER_PAD_OUT }; // arguments behind those

// Fails the node if the amounts are invalid.
void ember_pad_args(ember_node_t *node, ember_tensor_t *x,
                    ember_pad_amounts_t *amounts);

#endif // EMBER_KERNELS_CORTEX_M_PAD_ARGS_H
