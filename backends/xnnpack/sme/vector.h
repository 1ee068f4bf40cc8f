// SPDX-License-Identifier: Apache-2.0
// How long vectors are in streaming mode.
#ifndef EMBER_XNNPACK_SME_VECTOR_H
#define EMBER_XNNPACK_SME_VECTOR_H

#include <stdint.h>

// Bytes.
uint32_t ember_xnn_sme_vector(void);

// The same, of the models; a tool sets it to what a board has.
extern uint32_t ember_xnn_sme_model_vector;

#endif // EMBER_XNNPACK_SME_VECTOR_H
