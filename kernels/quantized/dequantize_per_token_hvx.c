// SPDX-License-Identifier: Apache-2.0
// dequantize_per_token with HVX: a line along the last dimension. Contract:
// dequantize_lines_hvx.h.
#include "kernels/quantized/dequantize_lines_hvx.h"

EMBER_DEQUANTIZE_LINES_HVX_KERNEL(dequantize_per_token_hvx, EMBER_AFFINE_TOKEN);
