// SPDX-License-Identifier: Apache-2.0
// quantize_per_tensor: one scale and zero point, numbers or tensors. Every dtype.
#include "kernels/engine/affine.h"

EMBER_AFFINE_KERNEL(quantize_per_tensor, quantize, EMBER_AFFINE_TENSOR);
