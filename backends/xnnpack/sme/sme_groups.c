// SPDX-License-Identifier: Apache-2.0
// Weights of four bits with scales per block in the layout of gemm.h.
#include "sme_weights.h"

#include <math.h>

// Limits so that sums of blocks are exact in float32, and sums of their weights are
// int16. The scales of a column must not be too far apart: divided by the largest one
// they are float16. Close scales have all their bits within this many.
enum { MOST_BLOCK = 4096, MOST_EXPONENT = 100, MOST_SPREAD = 16, CLOSE_BITS = 16 };

// A scale: digits * 2^exponent with an odd digits; nothing for zero.
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

// First and last bits of the scales of a column, its maximum and its minimum.
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
    // If scales were left out, they were checked when weights were packed.
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

// A column while it is packed.
typedef struct column {
    const void *weights;
    const uint16_t *scales;
    size_t first; // of its weights
    uint32_t block;
    bool close; // scales of the whole block's columns, too
    float back;
    float scale; // of gemm.h
} column_t;

// For the weights of the block that begins at element k.
static int32_t sum_of(const column_t *column, uint32_t k) {
    int32_t sum = 0;
    for (uint32_t i = k; i < k + column->block; i++) {
        sum += weight_at(column->weights, column->first + i);
    }
    return sum;
}

static float scale_of(const column_t *column, uint32_t k) {
    return ember_f32_from_bf16(column->scales[k / column->block]) / column->back;
}

// The scale of a block above the sum of its weights.
static uint32_t pack_scale(const column_t *column, uint32_t k) {
    const uint16_t scale = ember_f16_from_f32(scale_of(column, k) / column->scale);
    return (uint32_t)scale << 16 | ((uint32_t)sum_of(column, k) & 0xffff);
}

// Of weights times scales from element k to `end`; rounded up.
static float norm_of(const column_t *column, uint32_t k, uint32_t end) {
    float sum = 0.0f;
    for (; k < end; k++) {
        const float weight = (float)weight_at(column->weights, column->first + k);
        sum += weight * scale_of(column, k) * (weight * scale_of(column, k));
    }
    return sqrtf(sum) * 1.001f;
}

// The weights of the block at element k times its scale.
static float lift_of(const column_t *column, uint32_t k) {
    return (float)sum_of(column, k) * scale_of(column, k);
}

// Not less than x, which is not negative.
static uint32_t half_above(float x) {
    return ember_f16_from_f32(x * 1.001f + 0x1p-23f);
}

// Elements of the part from k to `end`, `step` apart.
static void pack_part(const column_t *column, uint32_t k, uint32_t end, float limit,
                      uint32_t step, float *to) {
    float lift = 0.0f;
    for (uint32_t i = k; i < end; i += column->block) {
        lift += lift_of(column, i);
    }
    float some = 0.0f;
    float spread = fabsf(lift) / 2;
    for (uint32_t i = k; i < end; i += column->block) {
        some += lift_of(column, i);
        spread = fmaxf(spread, fabsf(some - lift / 2));
    }
    const uint32_t norm = half_above(norm_of(column, k, end) / 2 / limit);
    to[(size_t)XNN_SME_GROUP_LIFT * step] = lift;
    to[(size_t)XNN_SME_GROUP_SPREAD * step] =
        ember_float_from(half_above(spread / limit) << 16 | norm);
}

// The values after the blocks of a column, `step` words apart.
static void pack_extra(column_t *column, uint32_t k, uint32_t step, float *to) {
    const uint32_t part = xnn_sme_group_part(column->block);
    int32_t smallest;
    const scale_t range = range_of(column->scales, k / column->block, &smallest);
    const int32_t exponent = range.first + (column->close ? 9 : -11);
    const float limit = power_of_2(24 + range.last - exponent);
    column->back = power_of_2(exponent);
    column->scale = column->close ? 0x1p-24f : 0x1p12f;
    const uint8_t *weights = (const uint8_t *)column->weights + column->first / 2;
    const float start =
        xnn_group_start(weights, column->scales, k, column->block) / column->back;
    to[(size_t)XNN_SME_GROUP_BACK * step] = column->back;
    to[(size_t)XNN_SME_GROUP_LIMIT * step] = limit;
    to[(size_t)XNN_SME_GROUP_SCALE * step] = column->scale;
    to[(size_t)XNN_SME_GROUP_START * step] = start;
    to += (size_t)XNN_SME_GROUP_PARTS * step;
    for (uint32_t i = 0; i < k; i += part) {
        const uint32_t end = i + (part < k - i ? part : k - i);
        pack_part(column, i, end, limit, step, to);
        to += (size_t)XNN_SME_GROUP_NUMBERS * step;
    }
}

// A column among `step`: the first of its words is at `to`.
static void pack_column(const ember_xnn_geometry_t *geometry, column_t *column,
                        uint32_t step, uint32_t *to) {
    const size_t words = xnn_sme_group_words(geometry->k, geometry->block);
    pack_extra(column, geometry->k, step, (float *)(void *)(to + words * step));
    for (uint32_t k = 0; k < geometry->k; k += geometry->block) {
        for (uint32_t i = k; i < k + geometry->block; i += 8, to += step) {
            *to = pack_word(column->weights, column->first + i);
        }
        *to = pack_scale(column, k);
        to += step;
    }
}

static bool are_close(const uint16_t *scales, uint32_t blocks, uint32_t columns) {
    for (uint32_t i = 0; i < columns; i++) {
        int32_t smallest;
        const scale_t range = range_of(scales + (size_t)i * blocks, blocks, &smallest);
        if (range.first - range.last >= CLOSE_BITS) {
            return false;
        }
    }
    return true;
}

// Adjacent columns: a whole block or the last ones.
static void pack_block(const ember_xnn_geometry_t *geometry, const void *weights,
                       const uint16_t *scales, uint32_t first, uint32_t *to) {
    const uint32_t blocks = geometry->k / geometry->block;
    const uint32_t left = geometry->n - first;
    const uint32_t columns = left < geometry->unit ? left : geometry->unit;
    const bool close = columns == geometry->unit &&
                       are_close(scales + (size_t)first * blocks, blocks, columns);
    for (uint32_t i = 0; i < columns; i++) {
        column_t column = {
            .weights = weights,
            .scales = scales + (size_t)(first + i) * blocks,
            .first = (size_t)(first + i) * geometry->k,
            .block = geometry->block,
            .close = close,
        };
        pack_column(geometry, &column, columns, to + i);
    }
}

static void pack(const ember_xnn_geometry_t *geometry, const void *weights,
                 const void *scales, void *to) {
    const size_t words = xnn_sme_group_column(geometry->k, geometry->block);
    for (uint32_t i = 0; i < geometry->n; i += geometry->unit) {
        pack_block(geometry, weights, scales, i, (uint32_t *)to + i * words);
    }
}

static uint64_t size(const ember_xnn_geometry_t *geometry) {
    return 4 * (uint64_t)xnn_sme_group_column(geometry->k, geometry->block) *
           geometry->n;
}

const ember_xnn_layout_t ember_xnn_sme_groups = {"sme_qb4", size, pack, true};
