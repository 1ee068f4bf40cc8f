// SPDX-License-Identifier: Apache-2.0
// dequantize_per_channel with HVX: a channel outside of the innermost dimension.
// Contract: dequantize_lines_hvx.h.
#include "kernels/quantized/dequantize_lines_hvx.h"

EMBER_DEQUANTIZE_LINES_HVX_KERNEL(dequantize_per_channel_hvx, EMBER_AFFINE_CHANNEL);
