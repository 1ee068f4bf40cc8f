// SPDX-License-Identifier: Apache-2.0
// dequantize_per_channel: a scale, and zero point or none, for each index of one
// dimension.
#include "kernels/engine/affine.h"

EMBER_AFFINE_KERNEL(dequantize_per_channel, dequantize, EMBER_AFFINE_CHANNEL);
