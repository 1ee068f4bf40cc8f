// SPDX-License-Identifier: Apache-2.0
// embedding_2bit with HVX: rows of a table of 2-bit numbers.
#include "kernels/quantized/embedding_hvx.h"

EMBER_EMBEDDING_HVX_KERNEL(embedding_2bit_hvx, 2);
