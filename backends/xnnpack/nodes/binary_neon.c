// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes with two float32 or float16 inputs.
#include "floats_neon.h"

XNN_INLINE float32x4_t smaller(float32x4_t x, float32x4_t y) {
    return vbslq_f32(vcltq_f32(x, y), x, y);
}

XNN_INLINE float32x4_t larger(float32x4_t x, float32x4_t y) {
    return vbslq_f32(vcgtq_f32(x, y), x, y);
}

XNN_INLINE float32x4_t sloped(float32x4_t x, float32x4_t y) {
    return vbslq_f32(vcltq_f32(x, vdupq_n_f32(0.0f)), vmulq_f32(x, y), x);
}

static void add(const ember_neon_fours_t *fours) {
    neon_two(fours, vaddq_f32);
}

static void divide(const ember_neon_fours_t *fours) {
    neon_two(fours, vdivq_f32);
}

static void maximum(const ember_neon_fours_t *fours) {
    neon_two(fours, larger);
}

static void minimum(const ember_neon_fours_t *fours) {
    neon_two(fours, smaller);
}

static void multiply(const ember_neon_fours_t *fours) {
    neon_two(fours, vmulq_f32);
}

static void prelu(const ember_neon_fours_t *fours) {
    neon_two(fours, sloped);
}

static void subtract(const ember_neon_fours_t *fours) {
    neon_two(fours, vsubq_f32);
}

static const ember_neon_fours_fn functions[] = {
    [XNN_ADD] = add,           [XNN_DIV] = divide,        [XNN_MAXIMUM] = maximum,
    [XNN_MINIMUM] = minimum,   [XNN_MULTIPLY] = multiply, [XNN_PRELU] = prelu,
    [XNN_SUBTRACT] = subtract,
};

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    return ember_xnn_neon_floats(node, 2) ? EMBER_OK : EMBER_UNSUPPORTED;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_lines_t lines;
    if (ember_xnn_lines_start(&lines, node, INT32_MAX)) {
        do {
            ember_xnn_neon_line(node, &lines, functions[node->kind]);
        } while (ember_xnn_lines_next(&lines));
    }
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, binary_neon, NULL, ember_xnn_broadcast_shape,
               XNN_KIND(ADD) | XNN_KIND(DIV) | XNN_KIND(MAXIMUM) | XNN_KIND(MINIMUM) |
                   XNN_KIND(MULTIPLY) | XNN_KIND(PRELU) | XNN_KIND(SUBTRACT));
