// SPDX-License-Identifier: Apache-2.0
// Rounding and quantisation like XNNPACK's, the same on all boards.
#ifndef EMBER_XNNPACK_NUMBERS_H
#define EMBER_XNNPACK_NUMBERS_H

#include "backends/xnnpack/graph/graph.h"
#include "kernels/engine/element.h"
#include "kernels/engine/mathf.h"

// x in [low, high]; NaN stays NaN. A plain comparison would let LLVM use Hexagon's
// instruction that drops NaN.
static inline float xnn_clamp(float x, float low, float high) {
    const float y = x < low ? low : x;
    const float z = y > high ? high : y;
    return x == x ? z : x;
}

// Whether a node's outputs have no bounds.
static inline bool xnn_is_open(const ember_xnn_node_t *node) {
    return node->low == -EMBER_INF && node->high == EMBER_INF;
}

// The integer nearest to x, ties to even, in [low, high]; low for NaN. Bounds are
// integers below 2^22 in magnitude.
static inline int32_t xnn_round(float x, float low, float high) {
    const float magic = 12582912.0f; // 1.5 * 2^23: its last bit has the value 1
    const float y = x > low ? x : low;
    const float z = y < high ? y : high;
    return (int32_t)(ember_float_bits(z + magic) - ember_float_bits(magic));
}

// The float16 nearest to x.
static inline float xnn_to_f16(float x) {
    return ember_f32_from_f16(ember_f16_from_f32(x));
}

// Parameters of a QDS8 row, after its elements.
typedef struct ember_xnn_row {
    float scale; // of its values: value = (element - zero) * scale
    int32_t zero;
} ember_xnn_row_t;

static inline ember_xnn_row_t *xnn_rows(const ember_xnn_value_t *value) {
    const uint32_t elements = (value->numel + 7) & ~(uint32_t)7;
    return (ember_xnn_row_t *)((uint8_t *)value->data + elements);
}

// The minimum and maximum of a row and zero. If the row has a NaN, at least one of them
// is NaN: then the scale is NaN, all elements are the zero point, and so results are
// NaN.
typedef struct ember_xnn_limits {
    float low;
    float high;
} ember_xnn_limits_t;

// The factor from a row's values to its elements, and the zero point.
static inline float xnn_find_parameters(const ember_xnn_limits_t *limits,
                                        int32_t *zero) {
    const float width = limits->high - limits->low;
    const float factor = width == 0.0f ? 1.0f : 255.0f / width;
    const float low = limits->low * factor;
    const float high = limits->high * factor;
    const float number =
        (-128.0f + low) + (127.0f + high) > 0.0f ? -128.0f - low : 127.0f - high;
    *zero = xnn_round(number, -128.0f, 127.0f);
    return factor;
}

// The factor for the values of a float16 row: the same as float16, maybe infinite: then
// values become the ends of the range, and zeros its lower end, as in XNNPACK. A row's
// scale is the reciprocal of the factor itself.
static inline float xnn_half_factor(float factor) {
    return xnn_to_f16(factor);
}

// Brings an int32 sum of products to the int8 output, with its bounds.
typedef struct ember_xnn_range {
    float low; // of the rounded value before `zero` is added
    float high;
    int32_t zero;
} ember_xnn_range_t;

// Bounds of a node's int8 output. False if its scale is invalid.
bool ember_xnn_range(const ember_xnn_node_t *node, ember_xnn_range_t *range);

static inline int8_t xnn_quantize(float x, const ember_xnn_range_t *range) {
    return (int8_t)(xnn_round(x, range->low, range->high) + range->zero);
}

// Element `index` of a float value, as float16.
static inline float xnn_f16(const ember_xnn_value_t *value, size_t index) {
    if (value->datatype == XNN_F16) {
        return ember_f32_from_f16(((const uint16_t *)value->constant)[index]);
    }
    return xnn_to_f16(((const float *)value->constant)[index]);
}

// Whether this can be a scale: it and its reciprocal are positive floats.
static inline bool xnn_is_scale(float scale) {
    return scale > 0.0f && scale < EMBER_INF;
}

// --- weights of four bits with a bfloat16 scale per group --------------------------

// In executorch's wheel, elements of rows then count from 0 to 255. A sum begins with
// the zero point's part, (zero + 128) * start in one rounding; then each group's sum of
// element * weight, an integer, is multiplied by its scale and added in one rounding.
// `start` belongs to the column: minus the sum of its weights times scales, rounded
// after each run of 16. Without rounding, this is the sum of (element - zero) * weight
// * scale.
//
// A sum that becomes float16 is split in four, with elements from -128 to 127: product
// k of a group belongs to sum k / 2 % 4, and the first one begins with zero * start. In
// the end they are added pairwise; the row's scale and the bias are then applied in one
// step, not two.
enum { XNN_GROUP_OFFSET = 128, XNN_GROUP_SUMS = 4 };

// Weights from one column of k to the next: each begins with a byte, so the last four
// bits of an odd one are unused.
static inline uint32_t xnn_column_s4(uint32_t k) {
    return k + k % 2;
}

// Weight `index`, without its zero point of 8: low nibbles first.
static inline int32_t xnn_weight_s4(const uint8_t *nibbles, size_t index) {
    return (int32_t)(nibbles[index / 2] >> 4 * (index % 2) & 15) - 8;
}

// The start of a column of k weights, with an even number in each group; its scales are
// `scales`.
static inline float xnn_group_start(const uint8_t *nibbles, const uint16_t *scales,
                                    uint32_t k, uint32_t group) {
    const uint32_t run = group % 16 == 0 ? 16 : group;
    float start = 0.0f;
    for (uint32_t i = 0; i < k; i += run) {
        int32_t sum = -8 * (int32_t)run;
        for (uint32_t j = 0; j < run; j += 2, nibbles++) {
            sum += (*nibbles & 15) + (*nibbles >> 4);
        }
        start -= (float)sum * ember_f32_from_bf16(scales[i / group]);
    }
    return start;
}

// The factor of a row's starts, for sums that become float16 and for others.
static inline float xnn_group_zero(const ember_xnn_row_t *row, bool half) {
    return (float)(row->zero + (half ? 0 : XNN_GROUP_OFFSET));
}

#endif // EMBER_XNNPACK_NUMBERS_H
