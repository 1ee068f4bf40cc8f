// SPDX-License-Identifier: Apache-2.0
#include "add.h"

enum { MULTIPLIER_BITS = 20 };

// False if the scales are so far apart that XNNPACK has no answer either.
static bool find_factors(const ember_xnn_node_t *node, ember_xnn_add_t *add) {
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
    add->shift = (uint32_t)(MULTIPLIER_BITS - exponent);
    const float unit = ember_pow2(MULTIPLIER_BITS - exponent);
    add->a = (int32_t)ember_roundf(a_ratio * unit);
    add->b = (int32_t)ember_roundf(b_ratio * unit);
    add->b = node->kind == XNN_SUBTRACT ? -add->b : add->b;
    add->bias = ((int32_t)1 << (add->shift - 1)) - add->a * a->zero - add->b * b->zero;
    return true;
}

static bool is_static(const ember_xnn_value_t *value) {
    return value->datatype == XNN_QS8 && xnn_is_scale(value->scale);
}

ember_status_t ember_xnn_add_prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_add_t add;
    return is_static(node->in[0]) && is_static(node->in[1]) &&
                   is_static(node->out[0]) && find_factors(node, &add)
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

void ember_xnn_add_line(const ember_xnn_add_t *add, const ember_xnn_lines_t *line) {
    const int8_t *a = line->a;
    const int8_t *b = line->b;
    int8_t *y = line->y;
    for (uint32_t i = 0; i < line->count; i++) {
        const int32_t sum =
            add->bias + a[i * line->a_step] * add->a + b[i * line->b_step] * add->b;
        y[i] = xnn_quantize((float)(sum >> add->shift), &add->range);
    }
}

void ember_xnn_add_run(const ember_xnn_node_t *node, ember_xnn_add_fn compute) {
    ember_xnn_lines_t lines;
    ember_xnn_add_t add;
    (void)find_factors(node, &add);
    (void)ember_xnn_range(node, &add.range);
    if (ember_xnn_lines_start(&lines, node, INT32_MAX)) {
        do {
            compute(&add, &lines);
        } while (ember_xnn_lines_next(&lines));
    }
}
