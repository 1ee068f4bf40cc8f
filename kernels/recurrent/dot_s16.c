// SPDX-License-Identifier: Apache-2.0
// Products of two rows of int16 in plain C. Contract: svdf.h.
#include "kernels/recurrent/svdf.h"

int64_t ember_dot_s16(const int16_t *a, const int16_t *b, int32_t count) {
    int64_t sum = 0;

    for (int32_t k = 0; k < count; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}
