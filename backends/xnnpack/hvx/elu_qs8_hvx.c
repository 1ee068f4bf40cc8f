// SPDX-License-Identifier: Apache-2.0
// ELU of static int8 by a table.
#include "table_hvx.h"

XNN_HVX_TABLE_KERNEL(elu_qs8_hvx, elu, XNN_KIND(ELU));
