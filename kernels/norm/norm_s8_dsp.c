// SPDX-License-Identifier: Apache-2.0
// Sums of int8 with the DSP instructions. Contract: norm_s8.h.
#include <arm_dsp_norms.h>

#include "kernels/norm/norm_s8.h"

enum { EIGHT = 8 };

void ember_norm_sums_s8_dsp(ember_sums_s8_t *to, const int8_t *x, uint32_t count) {
    const uint32_t pairs = count / EIGHT;

    if (pairs > 0) {
        uint32_t squares = 0;
        ember_norm_sums_dsp(x, pairs, &to->sum, &squares);
        to->squares += squares;
    }
    if (count % EIGHT > 0) {
        ember_norm_sums_s8(to, x + EIGHT * pairs, count % EIGHT);
    }
}
