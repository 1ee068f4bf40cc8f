// SPDX-License-Identifier: Apache-2.0
// quantized_layer_norm, quantized_group_norm: normalisation of int8 in integers.
//
// A group has N elements q, at most 2^19. Sums are exact:
//
//     S = sum of q           V = N * sum of q^2 - S^2
//     S = N * zero_point     V = N * sum of (q - zero_point)^2       of an RMS norm
//
// V + epsilon is N^2 times the variance; epsilon has 8 fraction bits. Its inverse
// square root has a relative error below 2^-23: a line, then three rounds of Newton's.
// If V is 0, so is the result without a bias. `mean` is S / N, rounded to nearest, ties
// away from zero; normalised numbers have f = 29 - ceil(log2(N) / 2) fraction bits:
//
//     n = (q - mean) * multiplier - rest
//     multiplier = round(N * 2^f / sqrt(V + epsilon))     below 2^30
//     rest = round((S - N * mean) * 2^f / sqrt(V + epsilon))
//
// U(a, b) is (a * b + 2^31) >> 32; other products and sums wrap. Of a layer norm each
// element has a scale g and a bias b, of a group norm each channel:
//
//     y = int8((U(n, g) + b) >> 8)                            layer norm
//     y = int8((q * slope + start) >> shift)                  group norm
//     slope = U(multiplier, g)       start = b - U(rest, g) - mean * slope
//
// where int8() saturates. All of it is exact on every core. Tensors of a group norm may
// have channels last in memory.
#ifndef EMBER_KERNELS_NORM_NORM_S8_H
#define EMBER_KERNELS_NORM_NORM_S8_H

#include "ember/node.h"

enum {
    EMBER_NORM_S8_MOST = 1 << 19, // elements of a group
    EMBER_NORM_S8_PART = 1 << 16, // elements whose squares an uint32_t can add
    EMBER_NORM_S8_SHIFT = 8,      // of a layer norm
};

// What a group is normalised by.
typedef struct ember_normal_s8 {
    int32_t multiplier;
    int32_t mean;
    int32_t rest;
} ember_normal_s8_t;

// How groups are normalised.
typedef struct ember_norm_s8 {
    uint64_t epsilon; // 1 .. 2^62
    uint32_t count;   // N
    int16_t zero_point;
    bool rms;
} ember_norm_s8_t;

typedef struct ember_sums_s8 {
    int64_t squares;
    int32_t sum;
} ember_sums_s8_t;

ember_normal_s8_t ember_normal_s8(const ember_norm_s8_t *by,
                                  const ember_sums_s8_t *sums);

// The int argument; it fails if it is out of range.
uint64_t ember_norm_s8_epsilon(ember_node_t *node, uint32_t arg);

static inline int32_t ember_upper_s32(int32_t a, int32_t b) {
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << 31)) >> 32);
}

// value * by + more; wraps.
static inline int32_t ember_line_s32(int32_t value, int32_t by, int32_t more) {
    return (int32_t)((uint32_t)value * (uint32_t)by + (uint32_t)more);
}

static inline int8_t ember_limited_s8(int32_t x) {
    return (int8_t)(x > INT8_MAX ? INT8_MAX : x < INT8_MIN ? INT8_MIN : x);
}

// Adds up to EMBER_NORM_S8_PART elements.
typedef void (*ember_norm_sums_s8_t)(ember_sums_s8_t *to, const int8_t *x,
                                     uint32_t count);
void ember_norm_sums_s8(ember_sums_s8_t *to, const int8_t *x, uint32_t count);
void ember_norm_sums_s8_dsp(ember_sums_s8_t *to, const int8_t *x, uint32_t count);
void ember_norm_sums_s8_mve(ember_sums_s8_t *to, const int8_t *x, uint32_t count);

// The sums of any number.
static inline ember_sums_s8_t ember_norm_all_s8(ember_norm_sums_s8_t sums,
                                                const int8_t *x, uint32_t count) {
    ember_sums_s8_t all = {0, 0};
    for (uint32_t at = 0; at < count; at += EMBER_NORM_S8_PART) {
        const uint32_t left = count - at;
        sums(&all, x + at, left < EMBER_NORM_S8_PART ? left : EMBER_NORM_S8_PART);
    }
    return all;
}

#endif // EMBER_KERNELS_NORM_NORM_S8_H
