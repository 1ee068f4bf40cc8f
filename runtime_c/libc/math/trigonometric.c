// SPDX-License-Identifier: Apache-2.0
// sin, cos, tan and their inverses.
#include <math.h>

#include "bits.h"

#define TWO_BY_PI   0x1.45f306dc9c883p-1
#define PI_BY_2     0x1.921fb54442d18p+0
#define PI_BY_2_LOW 0x1.1a62633145c07p-54

// Pi/2 in three parts; the first two have 33 bits, so k times them is exact.
#define PART_1 0x1.921fb54400000p+0
#define PART_2 0x1.0b4611a600000p-34
#define PART_3 0x1.3198a2e037073p-69

enum { LIMBS = 7 };

#define CLOSE 1048576.0 // up to here k times PART_1 and PART_2 is exact

// The bits of 2/pi after the point.
static const uint32_t two_by_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
    0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
    0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
    0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
    0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
    0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d, 0xa9e39161, 0x5ee61b08};

// product[0] (most significant) .. = mantissa * LIMBS words of 2/pi from `first` on.
static void multiply(uint64_t mantissa, int first, uint32_t product[LIMBS + 2]) {
    const uint32_t parts[2] = {(uint32_t)mantissa, (uint32_t)(mantissa >> 32)};

    for (int i = 0; i < LIMBS + 2; i++) {
        product[i] = 0;
    }
    for (int p = 0; p < 2; p++) {
        uint64_t carry = 0;
        for (int i = LIMBS - 1; i >= 0; i--) {
            uint32_t *at = &product[i + 2 - p];
            carry += (uint64_t)parts[p] * two_by_pi[first + i] + *at;
            *at = (uint32_t)carry;
            carry >>= 32;
        }
        product[1 - p] = (uint32_t)carry;
    }
}

// 32 bits of `product` from `bit` on, counted from the most significant.
static uint32_t bits_at(const uint32_t product[LIMBS + 2], int bit) {
    const int word = bit / 32;
    const int shift = bit % 32;
    const uint64_t low = word + 1 < LIMBS + 2 ? product[word + 1] : 0;

    return (uint32_t)(((uint64_t)product[word] << 32 | low) >> (32 - shift));
}

// Large arguments: x 2/pi with all the bits that matter. The words of 2/pi that only
// add whole turns are left out; what remains is two bits of quadrant, then the
// fraction.
static int reduce_far(double x, double *r) {
    const int exponent = exponent_of(x) - 1075;
    const uint64_t mantissa = (bits_of(x) & FRACTION) | (FRACTION + 1);
    const int first = exponent > 2 ? (exponent - 2) / 32 : 0;
    const int point = 64 + exponent - 32 * first; // where the fraction begins
    uint32_t product[LIMBS + 2];

    multiply(mantissa, first, product);
    uint32_t quadrant = bits_at(product, point - 32) & 3u;
    uint32_t f[4];
    for (int i = 0; i < 4; i++) {
        f[i] = bits_at(product, point + 32 * i);
    }
    const int up = f[0] >> 31 != 0; // nearer to the next quadrant: 1 - fraction
    double sum = 0.0;
    for (int i = 3; i >= 0; i--) {
        sum = (sum + (up ? ~f[i] : f[i])) * 0x1p-32;
    }
    *r = (up ? -sum : sum) * PI_BY_2;
    quadrant += (uint32_t)up;
    if (x < 0.0) {
        *r = -*r;
        quadrant = 0u - quadrant;
    }
    return (int)(quadrant & 3u);
}

// x = quadrant pi/2 + r, |r| <= pi/4; x is finite.
static int reduce(double x, double *r) {
    if (absolute(x) > CLOSE) {
        return reduce_far(x, r);
    }
    const double k = rint(x * TWO_BY_PI);
    *r = ((x - k * PART_1) - k * PART_2) - k * PART_3;
    return (int)((int32_t)k & 3);
}

// |r| <= pi/4: Taylor.
static double sine(double r) {
    static const double c[] = {-1.0 / 6,
                               1.0 / 120,
                               -1.0 / 5040,
                               1.0 / 362880,
                               -1.0 / 39916800,
                               1.0 / 6227020800.0,
                               -1.0 / 1307674368000.0,
                               1.0 / 355687428096000.0};
    const double z = r * r;

    return r + r * z * polynomial(c, sizeof c / sizeof c[0], z);
}

static double cosine(double r) {
    static const double c[] = {
        1.0 / 24,        -1.0 / 720,           1.0 / 40320,           -1.0 / 3628800,
        1.0 / 479001600, -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
    const double z = r * r;
    const double half = 0.5 * z;
    const double one = 1.0 - half;

    return one +
           (((1.0 - one) - half) + z * z * polynomial(c, sizeof c / sizeof c[0], z));
}

// sin(x + shift pi/2).
static double shifted_sine(double x, int shift) {
    double r;

    if (!isfinite(x)) {
        return NAN;
    }
    const int quadrant = reduce(x, &r) + shift;
    const double size = (quadrant & 1) != 0 ? cosine(r) : sine(r);
    return (quadrant & 2) != 0 ? -size : size;
}

double sin(double x) {
    return x == 0.0 ? x : shifted_sine(x, 0);
}

double cos(double x) {
    return shifted_sine(x, 1);
}

double tan(double x) {
    double r;

    if (!isfinite(x) || x == 0.0) {
        return x == 0.0 ? x : NAN;
    }
    const int quadrant = reduce(x, &r);
    return (quadrant & 1) != 0 ? -cosine(r) / sine(r) : sine(r) / cosine(r);
}

// ---- inverses ----------------------------------------------------------------------

// 0 <= x <= 1: atan(k/8) + atan(t), t = (x - k/8) / (1 + x k/8), |t| <= 1/16.
static double atan_unit(double x) {
    static const double at_eighths[] = {0.0,
                                        0x1.fd5ba9aac2f6ep-4,
                                        0x1.f5b75f92c80ddp-3,
                                        0x1.6f61941e4def1p-2,
                                        0x1.dac670561bb4fp-2,
                                        0x1.1e00babdefeb4p-1,
                                        0x1.4978fa3269ee1p-1,
                                        0x1.700a7c5784634p-1,
                                        0x1.921fb54442d18p-1};
    static const double c[] = {-1.0 / 3,  1.0 / 5,  -1.0 / 7, 1.0 / 9,
                               -1.0 / 11, 1.0 / 13, -1.0 / 15};
    const int k = (int)(x * 8.0 + 0.5);
    const double centre = k * 0.125;
    const double t = (x - centre) / (1.0 + x * centre);
    const double z = t * t;

    return at_eighths[k] + (t + t * z * polynomial(c, sizeof c / sizeof c[0], z));
}

double atan(double x) {
    const double size = absolute(x);

    if (isnan(x)) {
        return x;
    }
    if (size < 0x1p-28) {
        return x;
    }
    const double angle =
        size > 1.0 ? PI_BY_2 - (atan_unit(1.0 / size) - PI_BY_2_LOW) : atan_unit(size);
    return with_sign(angle, x);
}

double atan2(double y, double x) {
    const double a = absolute(y);
    const double b = absolute(x);

    if (isnan(x) || isnan(y)) {
        return NAN;
    }
    double angle;
    if (a == b) {
        angle = a == 0.0 ? 0.0 : PI_BY_2 / 2.0;
    } else {
        angle = a > b ? PI_BY_2 - (atan(b / a) - PI_BY_2_LOW) : atan(a / b);
    }
    if (signbit(x)) {
        angle = 2.0 * PI_BY_2 - (angle - 2.0 * PI_BY_2_LOW);
    }
    return with_sign(angle, y);
}

double asin(double x) {
    return atan2(x, sqrt((1.0 - x) * (1.0 + x)));
}

double acos(double x) {
    return atan2(sqrt((1.0 - x) * (1.0 + x)), x);
}
