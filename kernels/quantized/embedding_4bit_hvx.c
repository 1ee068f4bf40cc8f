// SPDX-License-Identifier: Apache-2.0
// embedding_4bit with HVX: rows of a table of 4-bit numbers.
#include "kernels/quantized/embedding_hvx.h"

EMBER_EMBEDDING_HVX_KERNEL(embedding_4bit_hvx, 4);
