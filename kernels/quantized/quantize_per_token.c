// SPDX-License-Identifier: Apache-2.0
// quantize_per_token: a scale and zero point for each line along the last dimension.
#include "kernels/engine/affine.h"

EMBER_AFFINE_KERNEL(quantize_per_token, quantize, EMBER_AFFINE_TOKEN);
