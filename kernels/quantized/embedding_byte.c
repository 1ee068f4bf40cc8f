// SPDX-License-Identifier: Apache-2.0
// embedding_byte: rows of a table of 8-bit numbers.
#include "kernels/quantized/table.h"

EMBER_TABLE_KERNEL(embedding_byte, 8);
