// SPDX-License-Identifier: Apache-2.0
// replication_pad: the last one to three dimensions with its ends repeated.
#include "kernels/movement/edge_pad.h"

EMBER_EDGE_PAD_KERNEL(replication_pad, EMBER_REMAP_REPLICATE);
