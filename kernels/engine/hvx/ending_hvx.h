// SPDX-License-Identifier: Apache-2.0
// How sums become results with HVX in dialects that do not scale them by the factors of
// cortex_m: one integer product for all, in registers. If a result is so close to the
// next one that the dialect might give that, all are checked again, and those in doubt
// are computed exactly.
#ifndef EMBER_KERNELS_ENGINE_HVX_ENDING_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_ENDING_HVX_H

#include "kernels/engine/hvx/scale_hvx.h"

enum { EMBER_ENDING_HVX = 16 }; // vectors of sums at a time, at most
enum { EMBER_PLACES_HVX = 22, EMBER_PLACES_HALF_HVX = 15 }; // of two shifts; the first

// Words are the same in all lanes.
typedef struct ember_ending_hvx {
    HVX_Vector least; // sums below it, and above `most`, have results beyond int8
    HVX_Vector most;
    HVX_Vector factor;
    HVX_Vector start;    // of moved sums: a half, the error and the zero point
    HVX_Vector fraction; // the bits of a fraction
    int32_t left;        // bits that sums are moved by
    int32_t places;      // of a fraction: up to EMBER_PLACES_HVX
    int32_t doubt;       // smaller fractions leave a doubt
    // Sums become results, in place; some are in doubt.
    void (*exact)(const struct ember_ending_hvx *ending, HVX_Vector *sums,
                  int32_t count);
    // Four sums, the same lane of as many vectors, become results.
    void (*lane)(const struct ember_ending_hvx *ending, const int32_t *sums,
                 int8_t *results);
} ember_ending_hvx_t;

// Bytes of words, none of which is negative, below `bound`: counted up to each.
INLINE HVX_Vector ember_counts_below_hvx(HVX_Vector x, int32_t bound) {
    return Q6_Vb_prefixsum_Q(Q6_Q_vcmp_gt_VuwVuw(Q6_V_vsplat_R(bound), x));
}

INLINE int32_t ember_last_count_hvx(HVX_Vector counts) {
    return (int32_t)((uint32_t)Q6_R_vextract_VR(counts, EMBER_HVX - 4) >> 24);
}

INLINE bool ember_is_any_below_hvx(HVX_Vector x, int32_t bound) {
    return ember_last_count_hvx(ember_counts_below_hvx(x, bound)) != 0;
}

// Sums whose results are beyond int8 become the first ones of those.
INLINE HVX_Vector ember_near_hvx(const ember_ending_hvx_t *by, HVX_Vector sum) {
    return Q6_Vw_vmin_VwVw(Q6_Vw_vmax_VwVw(sum, ember_hvx_load(&by->least)),
                           ember_hvx_load(&by->most));
}

// The result with its fraction, and `nearest` to the next one of that and those before
// it.
INLINE HVX_Vector ember_result_hvx(const ember_ending_hvx_t *by, HVX_Vector sum,
                                   HVX_Vector *nearest) {
    const HVX_Vector start = ember_hvx_load(&by->start);
    const HVX_Vector all = Q6_Vw_vaslacc_VwVwR(start, sum, by->left);
    const HVX_Vector factor = ember_hvx_load(&by->factor);
    const HVX_Vector low = Q6_Vw_vmpye_VwVuh(all, factor);
    const HVX_Vector product = Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(low, all, factor);

    *nearest =
        Q6_Vw_vmin_VwVw(*nearest, Q6_V_vand_VV(product, ember_hvx_load(&by->fraction)));
    return product;
}

// Four vectors of results with their fractions become one of int8. Shifts to narrower
// lanes put those of two vectors by turns.
INLINE HVX_Vector ember_result_bytes_hvx(const ember_ending_hvx_t *by, HVX_Vector a,
                                         HVX_Vector b, HVX_Vector c, HVX_Vector d) {
    const int32_t first =
        by->places < EMBER_PLACES_HALF_HVX ? by->places : EMBER_PLACES_HALF_HVX;
    const HVX_Vector even = Q6_Vh_vasr_VwVwR_sat(c, a, first);
    const HVX_Vector odd = Q6_Vh_vasr_VwVwR_sat(d, b, first);
    const HVX_Vector bytes = Q6_Vb_vasr_VhVhR_sat(odd, even, by->places - first);
    return Q6_Vb_vdeal_Vb(Q6_Vb_vdeal_Vb(bytes));
}

// The result, and `nearest` to the next one as above.
INLINE HVX_Vector ember_nearly_hvx(const ember_ending_hvx_t *by, HVX_Vector sum,
                                   HVX_Vector *nearest) {
    return Q6_Vw_vasr_VwR(ember_result_hvx(by, sum, nearest), by->places);
}

// Sums become results, with the zero point. Those in doubt are computed exactly.
INLINE void ember_ended_hvx(const ember_ending_hvx_t *ending, HVX_Vector *sums,
                            int count) {
    HVX_Vector kept[EMBER_ENDING_HVX]; // sums themselves are in registers
    HVX_Vector nearest = ember_hvx_load(&ending->fraction);

    EMBER_HVX_UNROLL
    for (int i = 0; i < count; i++) {
        ember_hvx_store(kept + i, sums[i]);
        sums[i] = ember_nearly_hvx(ending, ember_near_hvx(ending, sums[i]), &nearest);
    }
    if (ember_is_any_below_hvx(nearest, ending->doubt)) {
        ending->exact(ending, kept, count);
        EMBER_HVX_UNROLL
        for (int i = 0; i < count; i++) {
            sums[i] = ember_hvx_load(kept + i);
        }
    }
}

#endif // EMBER_KERNELS_ENGINE_HVX_ENDING_HVX_H
