// SPDX-License-Identifier: Apache-2.0
// The length of vectors in streaming mode.
#ifndef EMBER_XNNPACK_SME_VECTOR_H
#define EMBER_XNNPACK_SME_VECTOR_H

#include <stdint.h>

// In bytes.
uint32_t ember_xnn_sme_vector(void);

// The same for the models; a tool sets it to the board's.
extern uint32_t ember_xnn_sme_model_vector;

#endif // EMBER_XNNPACK_SME_VECTOR_H
