// SPDX-License-Identifier: Apache-2.0
// y = a << b.
#include "kernels/engine/map.h"

static int64_t left(int64_t a, int64_t b) {
    return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b);
}

EMBER_ROW2(s64, int64_t, left(a, b))

static const ember_map_ops_t ops = {{NULL, NULL, s64}, .inputs = 2};
EMBER_MAP_KERNEL(bitwise_left_shift, 2);
