// SPDX-License-Identifier: Apache-2.0
// scatter_src: a copy of self with elements of src written at indices along a
// dimension.
#include "kernels/movement/scatter.h"

EMBER_SCATTER_KERNEL(scatter_src, EMBER_ALONG_SCATTER);
