// SPDX-License-Identifier: Apache-2.0
// embedding_byte with HVX: rows of a table of 8-bit numbers.
#include "kernels/quantized/embedding_hvx.h"

EMBER_EMBEDDING_HVX_KERNEL(embedding_byte_hvx, 8);
