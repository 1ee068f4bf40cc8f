// SPDX-License-Identifier: Apache-2.0
// Products of two rows of int16 with the DSP instructions. Contract: svdf.h.
#include <arm_acle.h>
#include <string.h>

#include "kernels/recurrent/svdf.h"

static inline int16x2_t pair(const int16_t *at) {
    int16x2_t both;
    memcpy(&both, at, sizeof(both));
    return both;
}

__attribute__((hot)) int64_t ember_dot_s16_dsp(const int16_t *a, const int16_t *b,
                                               int32_t count) {
    int64_t sum = 0;

    for (; count >= 4; count -= 4) {
        sum = __smlald(pair(a), pair(b), sum);
        sum = __smlald(pair(a + 2), pair(b + 2), sum);
        a += 4;
        b += 4;
    }
    for (; count > 0; count--) {
        sum += *a++ * *b++;
    }
    return sum;
}
