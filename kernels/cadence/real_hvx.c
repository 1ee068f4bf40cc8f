// SPDX-License-Identifier: Apache-2.0
// Sums become outputs in float32 with Hexagon's vectors. Contract: real_hvx.h.
//
// One product in integers is nearly right: it differs from the two of float32, each
// rounded, by less than 2^-22 of itself. Where a result of it is nearer to a half than
// that, in any lane, all are computed again as IEEE 754 has them.
#include "kernels/cadence/real_hvx.h"

#include "kernels/cortex_m/float_hvx.h"
#include "kernels/cortex_m/real_s8.h"

// Results of int8 with any zero point are below MOST. Fractions have PLACES bits or two
// less, of which the error of such a result is below ERROR.
enum { MOST = 400, PLACES = 22, ERROR = 320 };
enum { FOUR = 4, WORD = 4 }; // vectors, bytes

// --- as IEEE 754 has it --------------------------------------------------------------

INLINE HVX_Vector exact(HVX_Vector sum, const ember_float_hvx_t *by,
                        const ember_float_hvx_t *inverse) {
    const ember_float_hvx_t real = ember_float_of_int_hvx(sum);
    const ember_float_hvx_t once = ember_times_hvx(&real, by);
    const HVX_Vector twice = ember_product_hvx(once.significand, inverse->significand);
    const HVX_Vector left =
        Q6_Vw_vadd_VwVw(Q6_Vw_vadd_VwVw(once.exponent, inverse->exponent),
                        Q6_V_vsplat_R(32)); // of the higher word
    const HVX_Vector right = Q6_Vw_vsub_VwVw(Q6_V_vzero(), left);
    return ember_signed_hvx(ember_nearest_hvx(twice, right), once.sign);
}

static __attribute__((noinline)) void scale_exact(const ember_ending_hvx_t *ending,
                                                  const HVX_Vector *sums,
                                                  HVX_Vector *results, int32_t count) {
    const ember_real_hvx_t *real = (const ember_real_hvx_t *)ending;
    const ember_float_hvx_t by =
        ember_float_hvx(Q6_V_vsplat_R((int32_t)ember_float_bits(real->by)));
    const ember_float_hvx_t inverse =
        ember_float_hvx(Q6_V_vsplat_R((int32_t)ember_float_bits(real->inverse)));

    for (int32_t i = 0; i < count; i++) {
        ember_hvx_store(results + i, exact(ember_hvx_load(sums + i), &by, &inverse));
    }
}

// --- in integers ---------------------------------------------------------------------

// Whether a word, none of which is negative, is below `bound`: the bytes of those that
// are, counted up to the last.
INLINE bool is_any_below(HVX_Vector x, int32_t bound) {
    const HVX_VectorPred below = Q6_Q_vcmp_gt_VuwVuw(Q6_V_vsplat_R(bound), x);
    const HVX_Vector counts = Q6_Vb_prefixsum_Q(below);
    return (uint32_t)Q6_R_vextract_VR(counts, EMBER_HVX - WORD) >> 24 != 0;
}

// What a product in integers takes, the same in all lanes.
typedef struct numbers {
    HVX_Vector most;
    HVX_Vector fewest;
    HVX_Vector factor;
    HVX_Vector half; // and the error
    HVX_Vector fraction;
    int32_t left;
    int32_t places;
} numbers_t;

// The result, and `nearest` to a half of its fraction and those before it.
INLINE HVX_Vector nearly(const numbers_t *by, HVX_Vector sums, HVX_Vector *nearest) {
    const HVX_Vector within =
        Q6_Vw_vmin_VwVw(Q6_Vw_vmax_VwVw(sums, by->fewest), by->most);
    const HVX_Vector all = Q6_Vw_vasl_VwR(within, by->left);
    const HVX_Vector low = Q6_Vw_vmpye_VwVuh(all, by->factor);
    const HVX_Vector product =
        Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(low, all, by->factor);
    const HVX_Vector moved = Q6_Vw_vadd_VwVw(product, by->half);

    *nearest = Q6_Vw_vmin_VwVw(*nearest, Q6_V_vand_VV(moved, by->fraction));
    return Q6_Vw_vasr_VwR(moved, by->places);
}

// `each` vectors at a time: an instruction waits for the one before it.
INLINE void scale_each(const numbers_t *by, const HVX_Vector *sums, HVX_Vector *results,
                       HVX_Vector *nearest, int each) {
    HVX_Vector x[FOUR], own[FOUR];

    EMBER_HVX_UNROLL
    for (int i = 0; i < each; i++) {
        own[i] = by->fraction;
        x[i] = nearly(by, ember_hvx_load(sums + i), &own[i]);
    }
    EMBER_HVX_UNROLL
    for (int i = 0; i < each; i++) {
        ember_hvx_store(results + i, x[i]);
        *nearest = Q6_Vw_vmin_VwVw(*nearest, own[i]);
    }
}

static void scale_nearly(const ember_ending_hvx_t *ending, const HVX_Vector *sums,
                         HVX_Vector *results, int32_t count) {
    const ember_real_hvx_t *real = (const ember_real_hvx_t *)ending;
    const int32_t places = real->places, error = ERROR >> (PLACES - places);
    const numbers_t by = {
        .most = Q6_V_vsplat_R(real->most),
        .fewest = Q6_V_vsplat_R(-real->most),
        .factor = Q6_V_vsplat_R(real->factor),
        .half = Q6_V_vsplat_R((1 << (places - 1)) + error),
        .fraction = Q6_V_vsplat_R((1 << places) - 1),
        .left = real->left,
        .places = places,
    };
    HVX_Vector nearest = by.fraction; // to a half, in any lane
    int32_t i = 0;

    for (; i + FOUR <= count; i += FOUR) {
        scale_each(&by, sums + i, results + i, &nearest, FOUR);
    }
    for (; i < count; i++) {
        scale_each(&by, sums + i, results + i, &nearest, 1);
    }
    if (is_any_below(nearest, 2 * error + 1)) {
        scale_exact(ending, sums, results, count);
    }
}

ember_real_hvx_t ember_real_hvx(float scale, float inverse) {
    const float both = scale * inverse;
    const uint32_t bits = ember_float_bits(both);
    const int32_t exponent = (int32_t)(bits >> 23) - 127;
    ember_real_hvx_t real = {{scale_exact}, scale, inverse, 0, 0, 0, 0};

    if (both >= 0x1p-22f && both <= 0x1p-1f) {
        real.ending.scale = scale_nearly;
        real.most = (int32_t)((float)MOST / both) + 1;
        real.left = __builtin_clz((uint32_t)real.most) - 1;
        real.factor = (int32_t)((bits & 0x7fffff) | 0x800000) << 7;
        real.places = real.left - exponent - 1;
    }
    return real;
}
