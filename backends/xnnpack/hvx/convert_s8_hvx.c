// SPDX-License-Identifier: Apache-2.0
// From static int8 to static int8 with other parameters, by a table.
#include "table_hvx.h"

XNN_HVX_TABLE_KERNEL(convert_s8_hvx, convert, XNN_KIND(CONVERT));
