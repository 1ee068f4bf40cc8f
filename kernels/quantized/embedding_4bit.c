// SPDX-License-Identifier: Apache-2.0
// embedding_4bit: rows of a table of 4-bit numbers.
#include "kernels/quantized/table.h"

EMBER_TABLE_KERNEL(embedding_4bit, 4);
