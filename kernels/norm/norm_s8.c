// SPDX-License-Identifier: Apache-2.0
// Sums of int8 become what a group is normalised by. Contract: norm_s8.h.
#include "kernels/norm/norm_s8.h"

// Compiled for speed.
#define FAST __attribute__((hot))

enum { ROUNDS = 3, EPSILON = 8, MOST_EPSILON = 62, WORD = 32 };
enum { PLACES = 57, ROOT = 26, UP = 5 };
#define FIRST 1145023541u // a line near 2^30 / sqrt(m / 2^30)
#define SLOPE 654299166u

// A number of 64 bits without its zeros before the first one, of which there are
// `left`, an even number.
typedef struct upper {
    uint32_t bits; // 2^30 ..
    uint32_t left;
} upper_t;

static inline uint32_t times(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)a * b >> WORD);
}

// 2^30 / sqrt(m / 2^30), of m from 2^30 on.
static inline int32_t inverse_root(uint32_t m) {
    uint32_t y = FIRST - times(m, SLOPE);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const int32_t away = (1 << ROOT) - (int32_t)times(times(y, y), m);
        const int64_t more = (int64_t)(int32_t)y * (away * (1 << UP));
        y += (uint32_t)(more >> WORD);
    }
    return (int32_t)y;
}

// x is not 0.
static inline upper_t upper_of(uint64_t x) {
    const uint32_t high = (uint32_t)(x >> WORD), low = (uint32_t)x;
    if (high == 0) {
        const uint32_t zeros = (uint32_t)__builtin_clz(low) & ~1u;
        return (upper_t){low << zeros, WORD + zeros};
    }
    const uint32_t zeros = (uint32_t)__builtin_clz(high) & ~1u;
    const uint32_t rest = zeros == 0 ? 0 : low >> (WORD - zeros);
    return (upper_t){high << zeros | rest, zeros};
}

// 29 - ceil(log2(count) / 2)
static inline uint32_t fraction(uint32_t count) {
    const uint32_t bits = count > 1 ? WORD - (uint32_t)__builtin_clz(count - 1) : 0;
    return 29 - (bits + 1) / 2;
}

static inline int32_t rounded(int64_t x, uint32_t bits) {
    return (int32_t)((x + ((int64_t)1 << (bits - 1))) >> bits);
}

FAST ember_normal_s8_t ember_normal_s8(const ember_norm_s8_t *by,
                                       const ember_sums_s8_t *sums) {
    const int32_t count = (int32_t)by->count;
    int32_t sum = sums->sum;
    int64_t variance;

    if (by->rms) {
        const int32_t zero = by->zero_point;
        const int64_t moved =
            (int64_t)(2 * zero) * sum - (int64_t)(zero * zero) * count;
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
    const upper_t upper = upper_of(wide);
    const int64_t inverse = inverse_root(upper.bits);
    const uint32_t right = PLACES - fraction(by->count) - upper.left / 2;
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
