// SPDX-License-Identifier: Apache-2.0
// quantize_per_token with HVX: a scale and zero point for each line along the
// last dimension.
// Contract: quantize_lines_hvx.h.
#include "kernels/quantized/quantize_lines_hvx.h"

EMBER_QUANTIZE_LINES_HVX_KERNEL(quantize_per_token_hvx, EMBER_AFFINE_TOKEN);
