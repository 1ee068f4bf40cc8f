// SPDX-License-Identifier: Apache-2.0
// choose_qparams_per_token_asymmetric: a scale and a zero point for each line along the
// last dimension.
#ifndef EMBER_KERNELS_QUANTIZED_CHOOSE_QPARAMS_PER_TOKEN_ASYMMETRIC_H
#define EMBER_KERNELS_QUANTIZED_CHOOSE_QPARAMS_PER_TOKEN_ASYMMETRIC_H

#include "ember/node.h"
#include "kernels/engine/strided.h"
#include "kernels/quantized/qparams.h"

enum { EMBER_CHOOSE_TOKENS_OPERANDS = 3 };

typedef struct ember_choose_tokens {
    char *x;
    char *scale;
    char *zero_point;
    uint32_t count; // elements of a line
    int32_t step;   // bytes
    uint8_t x_dtype;
    uint8_t scale_dtype;
    uint8_t zero_dtype;
    uint8_t dims; // of the table; 0: no lines
    // {size, scale, zero point, x}
    int32_t table[EMBER_WALK_ITEMS(EMBER_CHOOSE_TOKENS_OPERANDS)];
} ember_choose_tokens_t;

EMBER_MUST_USE ember_status_t ember_choose_tokens_prepare(ember_node_t *node,
                                                          void *state);
// Like ember_extent_of().
typedef ember_extent_t (*ember_extent_fn)(uint32_t dtype, const void *x, int32_t step,
                                          uint32_t count);
void ember_choose_tokens_run(const ember_choose_tokens_t *choose,
                             ember_extent_fn extent_of);

#endif // EMBER_KERNELS_QUANTIZED_CHOOSE_QPARAMS_PER_TOKEN_ASYMMETRIC_H
