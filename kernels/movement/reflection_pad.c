// SPDX-License-Identifier: Apache-2.0
// reflection_pad: the last one to three dimensions mirrored about its ends.
#include "kernels/movement/edge_pad.h"

EMBER_EDGE_PAD_KERNEL(reflection_pad, EMBER_REMAP_REFLECT);
