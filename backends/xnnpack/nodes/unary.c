// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes with one input that need no functions of mathf.h.
#include "elements.h"

#include <math.h>

static void compute_abs(float *x, uint32_t count, float parameter) {
    (void)parameter;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = ember_fabsf(x[i]);
    }
}

static void compute_ceiling(float *x, uint32_t count, float parameter) {
    (void)parameter;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = ember_ceilf(x[i]);
    }
}

// Bounds are the node's.
static void compute_clamp(float *x, uint32_t count, float parameter) {
    (void)x;
    (void)count;
    (void)parameter;
}

static void compute_floor(float *x, uint32_t count, float parameter) {
    (void)parameter;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = ember_floorf(x[i]);
    }
}

static void compute_hardswish(float *x, uint32_t count, float parameter) {
    (void)parameter;
    for (uint32_t i = 0; i < count; i++) {
        x[i] *= xnn_clamp(fmaf(x[i], 1.0f / 6.0f, 0.5f), 0.0f, 1.0f);
    }
}

// Rounded after each step.
static void compute_hardswish_f16(float *x, uint32_t count, float parameter) {
    (void)parameter;
    const float sixth = xnn_to_f16(1.0f / 6.0f);
    for (uint32_t i = 0; i < count; i++) {
        x[i] =
            xnn_clamp(xnn_to_f16(x[i] + 3.0f), 0.0f, 6.0f) * xnn_to_f16(x[i] * sixth);
    }
}

static void compute_leaky_relu(float *x, uint32_t count, float slope) {
    for (uint32_t i = 0; i < count; i++) {
        x[i] = x[i] < 0.0f ? x[i] * slope : x[i];
    }
}

static void compute_negate(float *x, uint32_t count, float parameter) {
    (void)parameter;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = -x[i];
    }
}

static void compute_square(float *x, uint32_t count, float parameter) {
    (void)parameter;
    for (uint32_t i = 0; i < count; i++) {
        x[i] *= x[i];
    }
}

static void compute_square_root(float *x, uint32_t count, float parameter) {
    (void)parameter;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = sqrtf(x[i]);
    }
}

static void compute_reciprocal_square_root(float *x, uint32_t count, float parameter) {
    (void)parameter;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = 1.0f / sqrtf(x[i]);
    }
}

static const ember_xnn_unary_fn functions[] = {
    [XNN_ABS] = compute_abs,
    [XNN_CEILING] = compute_ceiling,
    [XNN_CLAMP] = compute_clamp,
    [XNN_FLOOR] = compute_floor,
    [XNN_HARDSWISH] = compute_hardswish,
    [XNN_LEAKY_RELU] = compute_leaky_relu,
    [XNN_NEGATE] = compute_negate,
    [XNN_SQUARE] = compute_square,
    [XNN_SQUARE_ROOT] = compute_square_root,
    [XNN_RECIPROCAL_SQUARE_ROOT] = compute_reciprocal_square_root,
};

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_unary_prepare(graph, node);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const bool half = node->kind == XNN_HARDSWISH && node->out[0]->datatype == XNN_F16;
    ember_xnn_unary_run(node, half ? compute_hardswish_f16 : functions[node->kind]);
}

XNN_KERNEL(unary, NULL, ember_xnn_shape_same,
           XNN_KIND(ABS) | XNN_KIND(CEILING) | XNN_KIND(CLAMP) | XNN_KIND(FLOOR) |
               XNN_KIND(HARDSWISH) | XNN_KIND(LEAKY_RELU) | XNN_KIND(NEGATE) |
               XNN_KIND(SQUARE) | XNN_KIND(SQUARE_ROOT) |
               XNN_KIND(RECIPROCAL_SQUARE_ROOT));
