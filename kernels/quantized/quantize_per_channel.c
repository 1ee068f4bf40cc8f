// SPDX-License-Identifier: Apache-2.0
// quantize_per_channel: a scale and zero point for each index of one dimension.
#include "kernels/engine/affine.h"

EMBER_AFFINE_KERNEL(quantize_per_channel, quantize, EMBER_AFFINE_CHANNEL);
