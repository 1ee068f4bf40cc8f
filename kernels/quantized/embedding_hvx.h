// SPDX-License-Identifier: Apache-2.0
// embedding_byte, embedding_4bit, embedding_2bit with HVX, to float32. Contract:
// table.h.
#ifndef EMBER_KERNELS_QUANTIZED_EMBEDDING_HVX_H
#define EMBER_KERNELS_QUANTIZED_EMBEDDING_HVX_H

#include "kernels/quantized/table.h"

// UNSUPPORTED for small groups, and for what is not of float32.
EMBER_MUST_USE ember_status_t ember_embedding_hvx_prepare(ember_table_t *table,
                                                          ember_node_t *node,
                                                          uint32_t bits);
// In portable C for rows with a scale or a zero point that vectors do not take.
int32_t ember_embedding_hvx_run(const ember_table_t *table);

#define EMBER_EMBEDDING_HVX_KERNEL(NAME, BITS)                                         \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_embedding_hvx_prepare(state, node, (BITS));                       \
    }                                                                                  \
    static int32_t run(void *state) {                                                  \
        return ember_embedding_hvx_run(state);                                         \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_table_t)

#endif // EMBER_KERNELS_QUANTIZED_EMBEDDING_HVX_H
