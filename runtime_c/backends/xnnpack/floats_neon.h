// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes of float32 or float16 from memory to memory, four numbers at a
// time, bounded by the node's range.
#ifndef EMBER_XNNPACK_FLOATS_NEON_H
#define EMBER_XNNPACK_FLOATS_NEON_H

#include "broadcast.h"
#include "neon.h"

// Groups of four behind each other; an operand may be the same four again and again.
typedef struct xnn_neon_fours {
    uint8_t *y;
    const uint8_t *a;
    const uint8_t *b; // functions of one number do not read it
    uint32_t count;
    uint32_t a_step; // bytes
    uint32_t b_step;
    bool half;
    float low;
    float high;
} xnn_neon_fours_t;

// Computes all groups.
typedef void (*xnn_neon_fours_fn)(const xnn_neon_fours_t *fours);

// Runs a line of float32 or float16: all but the last group where it lies.
void ember_xnn_neon_line(const ember_xnn_node_t *node, const ember_xnn_lines_t *line,
                         xnn_neon_fours_fn compute);

// Have the first `inputs` inputs and the output the same type, of these two?
bool ember_xnn_neon_floats(const ember_xnn_node_t *node, uint32_t inputs);

XNN_INLINE float32x4_t neon_load(const uint8_t *from, bool half) {
    return half ? xnn_neon_load_f16((const uint16_t *)(const void *)from)
                : vld1q_f32((const float *)(const void *)from);
}

XNN_INLINE void neon_store(uint8_t *to, float32x4_t x, bool half) {
    if (half) {
        xnn_neon_store_f16((uint16_t *)(void *)to, x);
    } else {
        vst1q_f32((float *)(void *)to, x);
    }
}

typedef float32x4_t (*xnn_neon_one_fn)(float32x4_t x);
typedef float32x4_t (*xnn_neon_two_fn)(float32x4_t x, float32x4_t y);

XNN_INLINE void neon_walk_one(const xnn_neon_fours_t *fours, bool half,
                              xnn_neon_one_fn function) {
    const float32x4_t low = vdupq_n_f32(fours->low);
    const float32x4_t high = vdupq_n_f32(fours->high);
    const uint8_t *a = fours->a;
    uint8_t *y = fours->y;
    for (uint32_t left = fours->count; left > 0; left--) {
        const float32x4_t made = function(neon_load(a, half));
        neon_store(y, xnn_neon_between(made, low, high), half);
        a += half ? 8 : 16;
        y += half ? 8 : 16;
    }
}

XNN_INLINE void neon_walk_two(const xnn_neon_fours_t *fours, bool half,
                              xnn_neon_two_fn function) {
    const float32x4_t low = vdupq_n_f32(fours->low);
    const float32x4_t high = vdupq_n_f32(fours->high);
    const uint32_t a_step = fours->a_step, b_step = fours->b_step;
    const uint8_t *a = fours->a, *b = fours->b;
    uint8_t *y = fours->y;
    for (uint32_t left = fours->count; left > 0; left--) {
        const float32x4_t made = function(neon_load(a, half), neon_load(b, half));
        neon_store(y, xnn_neon_between(made, low, high), half);
        a += a_step;
        b += b_step;
        y += half ? 8 : 16;
    }
}

// The loops of a function of one number, and of two.
XNN_INLINE void neon_one(const xnn_neon_fours_t *fours, xnn_neon_one_fn function) {
    if (fours->half) {
        neon_walk_one(fours, true, function);
    } else {
        neon_walk_one(fours, false, function);
    }
}

XNN_INLINE void neon_two(const xnn_neon_fours_t *fours, xnn_neon_two_fn function) {
    if (fours->half) {
        neon_walk_two(fours, true, function);
    } else {
        neon_walk_two(fours, false, function);
    }
}

#endif // EMBER_XNNPACK_FLOATS_NEON_H
