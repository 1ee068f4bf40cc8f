// SPDX-License-Identifier: Apache-2.0
// dequantize_per_token: a scale and zero point for each line along the last dimension.
#include "kernels/engine/affine.h"

EMBER_AFFINE_KERNEL(dequantize_per_token, dequantize, EMBER_AFFINE_TOKEN);
