// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes of static int8 by a table.
#include "table_hvx.h"

XNN_HVX_TABLE_KERNEL(unary_qs8_hvx, unary,
                     XNN_KIND(ABS) | XNN_KIND(CEILING) | XNN_KIND(CLAMP) |
                         XNN_KIND(FLOOR) | XNN_KIND(HARDSWISH) | XNN_KIND(LEAKY_RELU) |
                         XNN_KIND(NEGATE) | XNN_KIND(SQUARE) | XNN_KIND(SQUARE_ROOT) |
                         XNN_KIND(RECIPROCAL_SQUARE_ROOT));
