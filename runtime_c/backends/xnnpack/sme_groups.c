// SPDX-License-Identifier: Apache-2.0
// Weights of four bits with scales per block in the layout of sme/gemm.h.
#include "sme_weights.h"

#include <math.h>

// Sums of blocks are exact in float32, and sums of their weights are int16. Scales of a
// column are not too far apart: divided by the largest one they are float16.
enum { MOST_BLOCK = 4096, MOST_EXPONENT = 100, MOST_SPREAD = 16 };

// A scale: digits * 2^exponent, the last digit is a one; nothing for zero.
typedef struct scale {
    int32_t first; // exponents of the first and the last bit
    int32_t last;
    bool zero;
} scale_t;

static scale_t read_scale(uint16_t bits) {
    const int32_t exponent = bits >> 7 & 255;
    uint32_t digits = exponent != 0 ? (bits & 127u) | 128 : bits & 127u;
    scale_t scale = {.last = (exponent != 0 ? exponent : 1) - 127 - 7};
    scale.zero = digits == 0;
    scale.first = scale.last - 1;
    while (digits != 0 && digits % 2 == 0) {
        digits /= 2;
        scale.last++;
        scale.first++;
    }
    for (; digits != 0; digits /= 2) {
        scale.first++;
    }
    return scale;
}

static float power_of_2(int32_t exponent) {
    return ember_float_from((uint32_t)(exponent + 127) << 23);
}

// First and last bits of the scales of a column, its largest and its smallest.
static scale_t range_of(const uint16_t *scales, uint32_t blocks, int32_t *smallest) {
    scale_t range = {.zero = true};
    *smallest = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        const scale_t one = read_scale(scales[i]);
        if (!one.zero) {
            range.first =
                range.zero || one.first > range.first ? one.first : range.first;
            range.last = range.zero || one.last < range.last ? one.last : range.last;
            *smallest = range.zero || one.first < *smallest ? one.first : *smallest;
            range.zero = false;
        }
    }
    return range;
}

bool ember_xnn_sme_groups_fit(const ember_xnn_geometry_t *geometry,
                              const uint16_t *scales) {
    const uint32_t block = geometry->block;
    if (block == 0 || block % 16 != 0 || block > MOST_BLOCK ||
        geometry->k % block != 0) {
        return false;
    }
    // Where scales were left out, they were looked at when weights were packed.
    for (uint32_t i = 0; scales != NULL && i < geometry->n; i++) {
        const uint32_t blocks = geometry->k / block;
        int32_t smallest;
        const scale_t range = range_of(scales + (size_t)i * blocks, blocks, &smallest);
        if (range.first > MOST_EXPONENT || smallest < -MOST_EXPONENT ||
            range.first - smallest > MOST_SPREAD) {
            return false;
        }
    }
    return true;
}

// Without the zero point of 8.
static int32_t weight_at(const void *weights, size_t index) {
    const uint32_t byte = ((const uint8_t *)weights)[index / 2];
    return (int32_t)(byte >> 4 * (index % 2) & 15) - 8;
}

static uint32_t pack_word(const void *weights, size_t first) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t bits = (uint32_t)weight_at(weights, first + i) & 15;
        word |= bits << (i < 4 ? 8 * i : 8 * (i - 4) + 4);
    }
    return word;
}

// The scale of a block above the sum of its weights.
static uint32_t pack_scale(const void *weights, size_t first, uint32_t block,
                           uint16_t scale) {
    int32_t sum = 0;
    for (uint32_t i = 0; i < block; i++) {
        sum += weight_at(weights, first + i);
    }
    return (uint32_t)scale << 16 | ((uint32_t)sum & 0xffff);
}

// Of weights times scales from number `from` of the column on; a little more.
static float norm_of(const ember_xnn_geometry_t *geometry, const void *weights,
                     const uint16_t *scales, size_t column, uint32_t from, float back) {
    const uint32_t part = xnn_sme_group_part(geometry->block);
    const uint32_t left = geometry->k - from;
    float sum = 0.0f;
    for (uint32_t i = from; i < from + (part < left ? part : left); i++) {
        const uint32_t bits = (uint32_t)scales[i / geometry->block] << 16;
        const float scale = ember_float_from(bits) / back;
        const float x = (float)weight_at(weights, column * geometry->k + i) * scale;
        sum += x * x;
    }
    return sqrtf(sum) * 1.001f;
}

// The numbers behind the blocks of a column, `step` words apart.
static void pack_extra(const ember_xnn_geometry_t *geometry, const void *weights,
                       const uint16_t *scales, size_t column, uint32_t step,
                       uint32_t *to) {
    const uint32_t blocks = geometry->k / geometry->block;
    const uint32_t part = xnn_sme_group_part(geometry->block);
    const uint16_t *own = scales + column * blocks;
    int32_t smallest;
    const scale_t range = range_of(own, blocks, &smallest);
    const float back = power_of_2(range.first - 11);
    to[(size_t)XNN_SME_GROUP_BACK * step] = ember_float_bits(back);
    to[(size_t)XNN_SME_GROUP_FACTOR * step] =
        ember_float_bits(power_of_2(-1 - range.first));
    to[(size_t)XNN_SME_GROUP_LIMIT * step] =
        ember_float_bits(power_of_2(24 + range.last - range.first + 11));
    to += (size_t)XNN_SME_GROUP_NORMS * step;
    for (uint32_t k = 0; k < geometry->k; k += part, to += step) {
        *to = ember_float_bits(norm_of(geometry, weights, own, column, k, back));
    }
}

static uint32_t *pack_columns(const ember_xnn_geometry_t *geometry, const void *weights,
                              const uint16_t *scales, uint32_t first, uint32_t end,
                              uint32_t *to) {
    const uint32_t blocks = geometry->k / geometry->block;
    for (uint32_t k = 0; k < geometry->k; k += geometry->block) {
        for (uint32_t i = k; i < k + geometry->block; i += 8) {
            for (size_t column = first; column < end; column++) {
                *to++ = pack_word(weights, column * geometry->k + i);
            }
        }
        for (size_t column = first; column < end; column++) {
            *to++ = pack_scale(weights, column * geometry->k + k, geometry->block,
                               scales[column * blocks + k / geometry->block]);
        }
    }
    for (uint32_t column = first; column < end; column++) {
        pack_extra(geometry, weights, scales, column, end - first, to + column - first);
    }
    return to +
           (size_t)(end - first) * xnn_sme_group_extra(geometry->k, geometry->block);
}

static void pack(const ember_xnn_geometry_t *geometry, const void *weights,
                 const void *scales, void *to) {
    uint32_t *next = to;
    for (uint32_t first = 0; first < geometry->n; first += geometry->unit) {
        const uint32_t left = geometry->n - first;
        const uint32_t end = first + (left < geometry->unit ? left : geometry->unit);
        next = pack_columns(geometry, weights, scales, first, end, next);
    }
}

static uint64_t size(const ember_xnn_geometry_t *geometry) {
    const uint64_t words = xnn_sme_group_words(geometry->k, geometry->block) +
                           xnn_sme_group_extra(geometry->k, geometry->block);
    return 4 * words * geometry->n;
}

const ember_xnn_layout_t ember_xnn_sme_groups = {"sme_groups", size, pack, true};
