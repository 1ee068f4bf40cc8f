// SPDX-License-Identifier: Apache-2.0
// Contract: extent_hvx.h.
#include "kernels/engine/hvx/extent_hvx.h"

#include "kernels/engine/hvx/float_hvx.h"
#include "kernels/engine/mathf.h"

enum { LANES = 32 };

// The minimum and the maximum of all lanes, in the first lane.
INLINE void reduce(HVX_Vector *low, HVX_Vector *high) {
    EMBER_HVX_UNROLL
    for (int bytes = EMBER_HVX / 2; bytes >= 4; bytes /= 2) {
        *low = Q6_Vw_vmin_VwVw(*low, Q6_V_vror_VR(*low, bytes));
        *high = Q6_Vw_vmax_VwVw(*high, Q6_V_vror_VR(*high, bytes));
    }
}

static float number_of(HVX_Vector turned) {
    union {
        HVX_Vector vector;
        int32_t words[LANES];
    } lanes;
    ember_hvx_store(&lanes.vector, ember_turned_hvx(turned));
    return ember_float_from((uint32_t)lanes.words[0]);
}

void ember_extent_hvx(const float *x, uint32_t count, float *low, float *high) {
    HVX_Vector least = Q6_V_vzero();
    HVX_Vector most = Q6_V_vzero();
    int32_t left = (int32_t)count;

    for (; left >= LANES; left -= LANES) {
        const HVX_Vector some = ember_turned_hvx(ember_hvx_load_any(x));
        least = Q6_Vw_vmin_VwVw(least, some);
        most = Q6_Vw_vmax_VwVw(most, some);
        x += LANES;
    }
    if (left > 0) {
        const HVX_Vector some = ember_turned_hvx(
            Q6_V_vand_QV(Q6_Q_vsetq_R(left * 4), ember_hvx_load_part(x, left * 4)));
        least = Q6_Vw_vmin_VwVw(least, some);
        most = Q6_Vw_vmax_VwVw(most, some);
    }
    reduce(&least, &most);
    *low = number_of(least);
    *high = number_of(most);
    if (*low != *low || *high != *high) {
        *low = EMBER_NAN;
        *high = EMBER_NAN;
    }
}
