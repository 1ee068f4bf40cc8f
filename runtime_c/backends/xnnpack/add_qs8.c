// SPDX-License-Identifier: Apache-2.0
// Sum and difference of static int8 values: both are brought to the output's scale by
// integers of 21 bits, then shifted and rounded once, as XNNPACK does.
#include "broadcast.h"

enum { MULTIPLIER_BITS = 20 };

typedef struct factors {
    int32_t a;
    int32_t b;
    uint32_t shift;
    int32_t bias; // the rounding, less what the zero points add
} factors_t;

// False for scales so far apart that XNNPACK has no answer either.
static bool find_factors(const ember_xnn_node_t *node, factors_t *factors) {
    const ember_xnn_value_t *a = node->in[0];
    const ember_xnn_value_t *b = node->in[1];
    const float out = node->out[0]->scale;
    const float a_ratio = a->scale / out;
    const float b_ratio = b->scale / out;
    const float most = a_ratio > b_ratio ? a_ratio : b_ratio;
    const float least = a_ratio > b_ratio ? b_ratio : a_ratio;
    if (!(most >= 0.0009765625f && most < 256.0f && least >= 0.0f)) {
        return false;
    }
    const int32_t exponent = (int32_t)(ember_float_bits(most) >> 23) - 127;
    factors->shift = (uint32_t)(MULTIPLIER_BITS - exponent);
    const float unit = ember_pow2(MULTIPLIER_BITS - exponent);
    factors->a = (int32_t)ember_roundf(a_ratio * unit);
    factors->b = (int32_t)ember_roundf(b_ratio * unit);
    factors->b = node->kind == XNN_SUBTRACT ? -factors->b : factors->b;
    factors->bias = ((int32_t)1 << (factors->shift - 1)) - factors->a * a->zero -
                    factors->b * b->zero;
    return true;
}

static bool is_static(const ember_xnn_value_t *value) {
    return value->datatype == XNN_QS8 && xnn_is_scale(value->scale);
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    factors_t factors;
    return is_static(node->in[0]) && is_static(node->in[1]) &&
                   is_static(node->out[0]) && find_factors(node, &factors)
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

static void compute(const ember_xnn_range_t *range, const factors_t *factors,
                    const ember_xnn_lines_t *line) {
    const int8_t *a = line->a;
    const int8_t *b = line->b;
    int8_t *y = line->y;
    for (uint32_t i = 0; i < line->count; i++) {
        const int32_t sum = factors->bias + a[i * line->a_step] * factors->a +
                            b[i * line->b_step] * factors->b;
        y[i] = xnn_quantize((float)(sum >> factors->shift), range);
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_lines_t lines;
    ember_xnn_range_t range;
    factors_t factors;
    (void)find_factors(node, &factors);
    ember_xnn_range(node, &range);
    if (ember_xnn_lines_start(&lines, node)) {
        do {
            compute(&range, &factors, &lines);
        } while (ember_xnn_lines_next(&lines));
    }
}

XNN_KERNEL(add_qs8, NULL, ember_xnn_broadcast_shape,
           XNN_KIND(ADD) | XNN_KIND(SUBTRACT));
