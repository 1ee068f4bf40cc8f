// SPDX-License-Identifier: Apache-2.0
// y = a >> b, keeping the sign.
#include "kernels/engine/map.h"

static int64_t right(int64_t a, int64_t b) {
    return a >> (b < 0 || b > 63 ? 63 : b);
}

EMBER_ROW2(s64, int64_t, right(a, b))

static const ember_map_ops_t ops = {{NULL, NULL, s64}, .inputs = 2};
EMBER_MAP_KERNEL(bitwise_right_shift, 2);
