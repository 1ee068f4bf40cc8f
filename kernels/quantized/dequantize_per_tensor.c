// SPDX-License-Identifier: Apache-2.0
// dequantize_per_tensor: one scale and zero point, numbers or tensors. Every dtype.
#include "kernels/engine/affine.h"

EMBER_AFFINE_KERNEL(dequantize_per_tensor, dequantize, EMBER_AFFINE_TENSOR);
