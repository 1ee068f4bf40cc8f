// SPDX-License-Identifier: Apache-2.0
// Functions of static int8 by a table.
#include "table_hvx.h"

XNN_HVX_TABLE_KERNEL(unary_math_qs8_hvx, unary_math,
                     XNN_KIND(COS) | XNN_KIND(EXP) | XNN_KIND(GELU) | XNN_KIND(LOG) |
                         XNN_KIND(SIN) | XNN_KIND(SIGMOID) | XNN_KIND(TANH));
