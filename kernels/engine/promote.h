// SPDX-License-Identifier: Apache-2.0
// The dtype in which ATen computes: tensors with dimensions come before 0-d
// tensors, and those before Scalar arguments, unless the later ones are of a higher
// category (bool, integer, float).
#ifndef EMBER_KERNELS_ENGINE_PROMOTE_H
#define EMBER_KERNELS_ENGINE_PROMOTE_H

#include "ember/value.h"

enum { EMBER_NO_DTYPE = 255 };

typedef struct ember_promotion {
    // Of tensors with dimensions, of 0-d tensors, of Scalars; EMBER_NO_DTYPE before
    // the first.
    uint8_t dtypes[3];
} ember_promotion_t;

bool ember_dtype_is_float(uint32_t dtype);

// The smallest dtype that holds both, as torch.promote_types.
uint8_t ember_promote(uint8_t a, uint8_t b);

void ember_promotion_start(ember_promotion_t *promotion);
void ember_promotion_tensor(ember_promotion_t *promotion, const ember_tensor_t *tensor);
void ember_promotion_scalar(ember_promotion_t *promotion, ember_kind_t kind);
uint8_t ember_promotion_result(const ember_promotion_t *promotion);

#endif // EMBER_KERNELS_ENGINE_PROMOTE_H
