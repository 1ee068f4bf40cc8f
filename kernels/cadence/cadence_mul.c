// SPDX-License-Identifier: Apache-2.0
// cadence::quantized_mul, of two tensors or a tensor and a number.
#include "kernels/cadence/binary.h"

EMBER_CADENCE_BINARY_KERNEL(cadence_mul, a *b);
