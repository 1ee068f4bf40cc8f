// SPDX-License-Identifier: Apache-2.0
// How many windows of a pool are along a dimension, as ATen counts them.
#ifndef EMBER_KERNELS_ENGINE_WINDOWS_H
#define EMBER_KERNELS_ENGINE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

// -1 if there is none. With `ceil` the last window may extend past the end, if it
// begins inside the input or its padding on the left. Sizes and parameters are at most
// 2^28 or so: no sum wraps.
static inline int64_t ember_windows(int64_t size, int64_t window, int64_t stride,
                                    int64_t padding, bool ceil) {
    const int64_t room = size + 2 * padding - window + (ceil ? stride - 1 : 0);

    if (room < 0) {
        return -1;
    }
    const int64_t count = (int64_t)((uint32_t)room / (uint32_t)stride) + 1;
    return ceil && (count - 1) * stride >= size + padding ? count - 1 : count;
}

#endif // EMBER_KERNELS_ENGINE_WINDOWS_H
