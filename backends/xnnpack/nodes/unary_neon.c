// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes with one float32 or float16 input.
#include "floats_neon.h"
#include "kernels/engine/neon/mathf_neon.h"

// Bounds are the node's.
XNN_INLINE float32x4_t same(float32x4_t x) {
    return x;
}

XNN_INLINE float32x4_t hardswish(float32x4_t x) {
    const float32x4_t sixth = vdupq_n_f32(1.0f / 6.0f);
    const float32x4_t moved = vfmaq_f32(vdupq_n_f32(0.5f), x, sixth);
    const float32x4_t part = neon_between(moved, vdupq_n_f32(0.0f), vdupq_n_f32(1.0f));
    return vmulq_f32(x, part);
}

XNN_INLINE float32x4_t to_f16(float32x4_t x) {
    return vcvt_f32_f16(vcvt_f16_f32(x));
}

// Rounded after each step.
XNN_INLINE float32x4_t hardswish_f16(float32x4_t x) {
    const float32x4_t sixth = to_f16(vdupq_n_f32(1.0f / 6.0f));
    const float32x4_t moved = to_f16(vaddq_f32(x, vdupq_n_f32(3.0f)));
    const float32x4_t part = neon_between(moved, vdupq_n_f32(0.0f), vdupq_n_f32(6.0f));
    return vmulq_f32(part, to_f16(vmulq_f32(x, sixth)));
}

XNN_INLINE float32x4_t reciprocal_root(float32x4_t x) {
    return vdivq_f32(vdupq_n_f32(1.0f), vsqrtq_f32(x));
}

XNN_INLINE float32x4_t square(float32x4_t x) {
    return vmulq_f32(x, x);
}

static void compute_abs(const ember_neon_fours_t *fours) {
    neon_one(fours, vabsq_f32);
}

static void compute_ceiling(const ember_neon_fours_t *fours) {
    neon_one(fours, vrndpq_f32);
}

static void compute_clamp(const ember_neon_fours_t *fours) {
    neon_one(fours, same);
}

static void compute_exp(const ember_neon_fours_t *fours) {
    neon_one(fours, neon_exp);
}

static void compute_floor(const ember_neon_fours_t *fours) {
    neon_one(fours, vrndmq_f32);
}

static void compute_gelu(const ember_neon_fours_t *fours) {
    neon_one(fours, neon_gelu);
}

static void compute_hardswish(const ember_neon_fours_t *fours) {
    if (fours->half) {
        neon_walk_one(fours, true, hardswish_f16);
    } else {
        neon_walk_one(fours, false, hardswish);
    }
}

static void compute_negate(const ember_neon_fours_t *fours) {
    neon_one(fours, vnegq_f32);
}

static void compute_reciprocal_square_root(const ember_neon_fours_t *fours) {
    neon_one(fours, reciprocal_root);
}

static void compute_sigmoid(const ember_neon_fours_t *fours) {
    neon_one(fours, neon_sigmoid);
}

static void compute_square(const ember_neon_fours_t *fours) {
    neon_one(fours, square);
}

static void compute_square_root(const ember_neon_fours_t *fours) {
    neon_one(fours, vsqrtq_f32);
}

static void compute_tanh(const ember_neon_fours_t *fours) {
    neon_one(fours, neon_tanh);
}

static const ember_neon_fours_fn functions[] = {
    [XNN_ABS] = compute_abs,
    [XNN_CEILING] = compute_ceiling,
    [XNN_CLAMP] = compute_clamp,
    [XNN_EXP] = compute_exp,
    [XNN_FLOOR] = compute_floor,
    [XNN_GELU] = compute_gelu,
    [XNN_HARDSWISH] = compute_hardswish,
    [XNN_NEGATE] = compute_negate,
    [XNN_RECIPROCAL_SQUARE_ROOT] = compute_reciprocal_square_root,
    [XNN_SIGMOID] = compute_sigmoid,
    [XNN_SQUARE] = compute_square,
    [XNN_SQUARE_ROOT] = compute_square_root,
    [XNN_TANH] = compute_tanh,
};

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    return ember_xnn_neon_floats(node, 1) ? EMBER_OK : EMBER_UNSUPPORTED;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const ember_xnn_value_t *in = node->in[0];
    const ember_xnn_lines_t line = {
        .y = node->out[0]->data,
        .a = in->constant,
        .b = in->constant,
        .a_step = 1,
        .b_step = 1,
        .count = in->numel,
    };
    ember_xnn_neon_line(node, &line, functions[node->kind]);
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, unary_neon, NULL, ember_xnn_shape_same,
               XNN_KIND(ABS) | XNN_KIND(CEILING) | XNN_KIND(CLAMP) | XNN_KIND(EXP) |
                   XNN_KIND(FLOOR) | XNN_KIND(GELU) | XNN_KIND(HARDSWISH) |
                   XNN_KIND(NEGATE) | XNN_KIND(RECIPROCAL_SQUARE_ROOT) |
                   XNN_KIND(SIGMOID) | XNN_KIND(SQUARE) | XNN_KIND(SQUARE_ROOT) |
                   XNN_KIND(TANH));
