// SPDX-License-Identifier: Apache-2.0
// Products of two rows of int16 with Helium. Contract: svdf.h.
#include <arm_mve.h>

#include "kernels/recurrent/svdf.h"

enum { EIGHT = 8 };

int64_t ember_dot_s16_mve(const int16_t *a, const int16_t *b, int32_t count) {
    int64_t sum = 0;

    for (; count > 0; count -= EIGHT) {
        const mve_pred16_t lanes = vctp16q((uint32_t)count);
        const int16x8_t x = vldrhq_z_s16(a, lanes);
        sum = vmlaldavaq_s16(sum, x, vldrhq_z_s16(b, lanes));
        a += EIGHT;
        b += EIGHT;
    }
    return sum;
}
