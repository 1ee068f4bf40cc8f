// SPDX-License-Identifier: Apache-2.0
// Sums of int8 become what a group is normalised by. Contract: norm_s8.h.
#include "kernels/norm/norm_s8.h"

enum { ROUNDS = 3, EPSILON = 8, MOST_EPSILON = 62, PLACES = 58 };
#define FIRST 2290047081u // a line near 2^31 / sqrt(m / 2^30)
#define SLOPE 1308598332u

// The upper half of the product, twice.
static uint32_t times(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)a * b >> 31);
}

// 2^31 / sqrt(m / 2^30), of m from 2^30 on.
static uint32_t inverse_root(uint32_t m) {
    uint32_t y = FIRST - (uint32_t)((uint64_t)m * SLOPE >> 32);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        y = times(y, (3u << 30) - times(times(y, y), m));
    }
    return y;
}

// Zeros before the first one, without the last of an odd number; x is not 0.
static uint32_t even_zeros(uint64_t x) {
    const uint32_t upper = (uint32_t)(x >> 32);
    const int zeros =
        upper != 0 ? __builtin_clz(upper) : 32 + __builtin_clz((uint32_t)x);
    return (uint32_t)zeros & ~1u;
}

// 30 - ceil(log2(count) / 2)
static uint32_t fraction(uint32_t count) {
    const uint32_t bits = count > 1 ? 32 - (uint32_t)__builtin_clz(count - 1) : 0;
    return 30 - (bits + 1) / 2;
}

static int32_t rounded(int64_t x, uint32_t bits) {
    return (int32_t)((x + ((int64_t)1 << (bits - 1))) >> bits);
}

ember_normal_s8_t ember_normal_s8(const ember_norm_s8_t *by,
                                  const ember_sums_s8_t *sums) {
    const int32_t count = (int32_t)by->count;
    int32_t sum = sums->sum;
    int64_t variance;

    if (by->rms) {
        const int32_t zero = by->zero_point;
        const int64_t moved = (int64_t)(2 * zero) * sum - (int64_t)(zero * zero) * count;
        sum = zero * count;
        variance = count * (sums->squares - moved);
    } else {
        variance = count * sums->squares - (int64_t)sum * sum;
    }
    const int32_t half = sum < 0 ? -(count / 2) : count / 2;
    const int32_t mean = (sum + half) / count;
    if (variance == 0) {
        return (ember_normal_s8_t){0, mean, 0};
    }
    const uint64_t wide = ((uint64_t)variance << EPSILON) + by->epsilon;
    const uint32_t left = even_zeros(wide);
    const int64_t inverse = inverse_root((uint32_t)((wide << left) >> 32));
    const uint32_t right = PLACES - fraction(by->count) - left / 2;
    return (ember_normal_s8_t){rounded(count * inverse, right), mean,
                               rounded((sum - mean * count) * inverse, right)};
}

uint64_t ember_norm_s8_epsilon(ember_node_t *node, uint32_t arg) {
    const int64_t epsilon = ember_node_int(node, arg);
    if (epsilon < 1 || epsilon >> MOST_EPSILON != 0) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "norm: epsilon");
    }
    return (uint64_t)epsilon;
}

void ember_norm_sums_s8(ember_sums_s8_t *to, const int8_t *x, uint32_t count) {
    uint32_t squares = 0;
    int32_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        const int32_t q = x[i];
        sum += q;
        squares += (uint32_t)(q * q);
    }
    to->sum += sum;
    to->squares += squares;
}
