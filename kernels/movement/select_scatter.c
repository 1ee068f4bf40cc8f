// SPDX-License-Identifier: Apache-2.0
// select_scatter: a copy of self in which one index of a dimension is src.
#include "kernels/engine/view_args.h"
#include "kernels/movement/region.h"

enum { OUT = 4 };

EMBER_REGION_KERNEL(select_scatter, OUT, ember_view_select_args);
