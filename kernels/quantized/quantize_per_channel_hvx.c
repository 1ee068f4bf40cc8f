// SPDX-License-Identifier: Apache-2.0
// quantize_per_channel with HVX: a channel outside of the innermost dimension.
// Contract: quantize_lines_hvx.h.
#include "kernels/quantized/quantize_lines_hvx.h"

EMBER_QUANTIZE_LINES_HVX_KERNEL(quantize_per_channel_hvx, EMBER_AFFINE_CHANNEL);
