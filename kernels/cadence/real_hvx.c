// SPDX-License-Identifier: Apache-2.0
// Sums become outputs in float32 with Hexagon's vectors. Contract: real_hvx.h.
//
// One product in integers is nearly right: it differs from the two of float32, each
// rounded, by less than 2^-23 of itself and four of its last places.
#include "kernels/cadence/real_hvx.h"

#include "kernels/engine/hvx/float_hvx.h"
#include "kernels/engine/int8/real_s8.h"

enum { BIAS = 127, LEADING = 1 << EMBER_SIGNIFICAND_BITS, LANES = 32 };
enum { LAST_PLACES = 4, BEYOND = 3 }; // errors; results behind the last that is int8
enum { FAR_MOST = 1 << 28 };          // of sums

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

// Few vectors have the sum in doubt, and others take a third of the packets.
static void scale_exact(const ember_ending_hvx_t *ending, HVX_Vector *sums,
                        int32_t count) {
    const ember_real_hvx_t *real = ((const ember_real_ending_hvx_t *)ending)->real;
    const ember_float_hvx_t by =
        ember_float_hvx(Q6_V_vsplat_R((int32_t)ember_float_bits(real->by)));
    const ember_float_hvx_t inverse =
        ember_float_hvx(Q6_V_vsplat_R((int32_t)ember_float_bits(real->inverse)));
    const HVX_Vector zero_point = Q6_V_vsplat_R(real->zero_point);

    for (int32_t i = 0; i < count; i++) {
        const HVX_Vector sum = ember_hvx_load(sums + i);
        HVX_Vector nearest = ember_hvx_load(&ending->fraction);
        HVX_Vector number =
            ember_nearly_hvx(ending, ember_near_hvx(ending, sum), &nearest);
        if (ember_is_any_below_hvx(nearest, ending->doubt)) {
            number = Q6_Vw_vadd_VwVw(exact(sum, &by, &inverse), zero_point);
        }
        ember_hvx_store(sums + i, number);
    }
}

static void scale_lane(const ember_ending_hvx_t *ending, const int32_t *sums,
                       int8_t *results) {
    const ember_real_hvx_t *real = ((const ember_real_ending_hvx_t *)ending)->real;

    for (int32_t i = 0; i < EMBER_HVX / LANES; i++) {
        results[i] =
            ember_real_s8(sums[i * LANES], real->by, real->inverse, real->zero_point);
    }
}

// --- in integers ---------------------------------------------------------------------

// A product of two numbers: factor * 2^(exponent - 30), the factor from 2^30 on.
typedef struct product {
    int32_t factor;
    int32_t exponent;
} product_t;

static product_t product_of(uint32_t x, uint32_t y) {
    const uint64_t all =
        (uint64_t)((x & (LEADING - 1)) | LEADING) * ((y & (LEADING - 1)) | LEADING);
    const int32_t carry = (int32_t)(all >> 47);
    const int32_t exponents =
        (int32_t)(x >> EMBER_SIGNIFICAND_BITS) + (int32_t)(y >> EMBER_SIGNIFICAND_BITS);
    return (product_t){(int32_t)(all >> (16 + carry)), exponents - 2 * BIAS + carry};
}

// `both` is scale times inverse, from 2^-22 to 1/2. Sums are within `bound`, or, where
// that is 0, cut to those with results in int8. The zero point, and a half, are added
// before the product.
static void set_nearly(ember_real_hvx_t *s, float both, int32_t bound) {
    const product_t product =
        product_of(ember_float_bits(s->by), ember_float_bits(s->inverse));
    const int32_t high = -INT8_MIN - s->zero_point; // the first beyond int8
    const int32_t low = INT8_MIN - 1 - s->zero_point;
    const int32_t most = (int32_t)((float)high / both) + 2;
    const int32_t least = (int32_t)((float)low / both) - 2;
    const int32_t cut = most > -least ? most : -least;
    const int32_t room = __builtin_clz((uint32_t)(cut + bound)) - 1;
    const int32_t fitting = EMBER_PLACES_HVX + 1 + product.exponent;
    const int32_t left = room < fitting ? room : fitting;
    const int32_t places = left - product.exponent - 1;
    const uint32_t size = (uint32_t)(high > -low ? high : -low) + BEYOND;
    const int32_t error =
        (int32_t)((size << places) >> EMBER_SIGNIFICAND_BITS) + LAST_PLACES;
    const int64_t start = (s->zero_point * 2 + 1) * (1 << (places - 1)) + error;

    s->least = least;
    s->most = most;
    s->factor = product.factor;
    s->start = (int32_t)(start * (1LL << 31) / product.factor);
    s->left = left;
    s->places = places;
    s->doubt = 2 * error + 1;
}

ember_real_hvx_t ember_real_hvx(float scale, float inverse, int32_t zero_point) {
    return ember_real_within_hvx(scale, inverse, zero_point, 0);
}

ember_real_hvx_t ember_real_within_hvx(float scale, float inverse, int32_t zero_point,
                                       int32_t bound) {
    const float both = scale * inverse;
    ember_real_hvx_t real = {
        .by = scale,
        .inverse = inverse,
        .zero_point = zero_point,
        .doubt = INT32_MAX, // about all sums
    };

    if (both >= 0x1p-22f && both <= 0x1p-1f && bound < FAR_MOST) {
        set_nearly(&real, both, bound);
    }
    return real;
}

ember_real_ending_hvx_t ember_real_ending_hvx(const ember_real_hvx_t *real) {
    return (ember_real_ending_hvx_t){
        .ending =
            {
                .least = Q6_V_vsplat_R(real->least),
                .most = Q6_V_vsplat_R(real->most),
                .factor = Q6_V_vsplat_R(real->factor),
                .start = Q6_V_vsplat_R(real->start),
                .fraction = Q6_V_vsplat_R((1 << real->places) - 1),
                .left = real->left,
                .places = real->places,
                .doubt = real->doubt,
                .exact = scale_exact,
                .lane = scale_lane,
            },
        .real = real,
    };
}
