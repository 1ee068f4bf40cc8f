// SPDX-License-Identifier: Apache-2.0
// y = a ^ b; integers and bool.
#include "kernels/engine/map.h"

EMBER_ROW2(s64, int64_t, a ^ b)

static const ember_map_ops_t ops = {{NULL, NULL, s64}, .inputs = 2};
EMBER_MAP_KERNEL(bitwise_xor, 2);
