// SPDX-License-Identifier: Apache-2.0
// cadence::quantized_add, of two tensors or a tensor and a number.
#include "kernels/cadence/binary.h"

EMBER_CADENCE_BINARY_KERNEL(cadence_add, a + b);
