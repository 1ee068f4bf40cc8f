// SPDX-License-Identifier: Apache-2.0
// The numbers of filters, by which their sums start and are scaled: for each vector of
// 32 filters one vector of each kind.
#ifndef EMBER_KERNELS_ENGINE_HVX_NUMBERS_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_NUMBERS_HVX_H

#include "kernels/engine/hvx/scale_hvx.h"

enum {
    EMBER_BIAS_HVX, // what sums start from
    EMBER_MULTIPLIERS_HVX,
    EMBER_SHIFTS_HVX,
    EMBER_HALVES_HVX, // as in ember_factors_hvx_t
    EMBER_WHOLE_HVX,
    EMBER_NUMBERS_HVX
};

// Scales the sums of `count` outputs by `vectors` vectors of filters; `zero` is the
// zero point of all.
INLINE void ember_scale_any_hvx(const HVX_Vector *numbers, HVX_Vector zero,
                                HVX_Vector *sums, int count, int vectors) {
    EMBER_HVX_UNROLL
    for (int v = 0; v < vectors; v++) {
        const ember_factors_hvx_t by = {
            ember_hvx_load(numbers + EMBER_MULTIPLIERS_HVX),
            ember_hvx_load(numbers + EMBER_SHIFTS_HVX),
            ember_hvx_load(numbers + EMBER_HALVES_HVX),
            ember_hvx_load(numbers + EMBER_WHOLE_HVX),
        };
        EMBER_HVX_UNROLL
        for (int n = 0; n < count; n++) {
            HVX_Vector *sum = &sums[n * vectors + v];
            *sum = Q6_Vw_vadd_VwVw(ember_scaled_hvx(*sum, &by), zero);
        }
        numbers = ember_hvx_somewhere(numbers + EMBER_NUMBERS_HVX);
    }
}

// The same if no shift is 0; `zeros` is twice the zero point. `stepwise`: addresses are
// made one from the other, which leaves registers free where there are many sums.
INLINE void ember_scale_shifted_hvx(const HVX_Vector *numbers, HVX_Vector zeros,
                                    HVX_Vector *sums, int count, int vectors,
                                    bool stepwise) {
    EMBER_HVX_UNROLL
    for (int v = 0; v < vectors; v++) {
        const HVX_Vector multipliers = ember_hvx_load(numbers + EMBER_MULTIPLIERS_HVX);
        const HVX_Vector halves = ember_hvx_load(numbers + EMBER_HALVES_HVX);
        EMBER_HVX_UNROLL
        for (int n = 0; n < count; n++) {
            HVX_Vector *sum = &sums[n * vectors + v];
            *sum = ember_shifted_hvx(*sum, multipliers, halves, zeros);
        }
        numbers += EMBER_NUMBERS_HVX;
        numbers = stepwise ? ember_hvx_somewhere(numbers) : numbers;
    }
}

#endif // EMBER_KERNELS_ENGINE_HVX_NUMBERS_HVX_H
