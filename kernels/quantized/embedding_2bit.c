// SPDX-License-Identifier: Apache-2.0
// embedding_2bit: rows of a table of 2-bit numbers.
#include "kernels/quantized/table.h"

EMBER_TABLE_KERNEL(embedding_2bit, 2);
