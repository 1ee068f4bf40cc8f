// SPDX-License-Identifier: Apache-2.0
// scatter_add, and scatter with a reduction: a copy of self with elements of src added
// to, or multiplied with, those at indices along a dimension.
#include "kernels/movement/scatter.h"

EMBER_SCATTER_KERNEL(scatter_add, EMBER_ALONG_ADD);
