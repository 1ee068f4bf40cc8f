// SPDX-License-Identifier: Apache-2.0
// Sums of int8 with Helium. Contract: norm_s8.h.
#include <arm_mve.h>

#include "kernels/norm/norm_s8.h"

enum { SIXTEEN = 16 };

void ember_norm_sums_s8_mve(ember_sums_s8_t *to, const int8_t *x, uint32_t count) {
    int32_t sum = to->sum, squares = 0;

    for (int32_t left = (int32_t)count; left > 0; left -= SIXTEEN) {
        const mve_pred16_t lanes = vctp8q((uint32_t)left);
        const int8x16_t q = vldrbq_z_s8(x, lanes);
        squares = vmladavaq_p_s8(squares, q, q, lanes);
        sum = vaddvaq_p_s8(sum, q, lanes);
        x += SIXTEEN;
    }
    to->sum = sum;
    to->squares += (uint32_t)squares;
}
