// SPDX-License-Identifier: Apache-2.0
// slice_scatter: a copy of self in which a slice of a dimension is src.
#include "kernels/engine/view_args.h"
#include "kernels/movement/region.h"

enum { OUT = 6 };

EMBER_REGION_KERNEL(slice_scatter, OUT, ember_view_slice_args);
