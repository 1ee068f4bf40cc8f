// SPDX-License-Identifier: Apache-2.0
#include "elements.h"

#include "kernels/engine/half.h"

bool ember_xnn_is_plain(const ember_xnn_value_t *value) {
    return value->datatype == XNN_F32 || value->datatype == XNN_F16 ||
           value->datatype == XNN_BF16 ||
           (value->datatype == XNN_QS8 && xnn_is_scale(value->scale));
}

void ember_xnn_load(const ember_xnn_value_t *value, const void *from, uint32_t step,
                    uint32_t count, float *to) {
    const float *floats = from;
    const uint16_t *halves = from;
    const int8_t *bytes = from;
    const float scale = value->scale; // not aliased by `to`: loops become vectors
    const int32_t zero = value->zero;
    const bool same = step == 0 && count > 1;
    const uint32_t loads = same ? 1 : count;
    switch (value->datatype) {
    case XNN_F32:
        for (uint32_t i = 0; i < loads; i++) {
            to[i] = floats[i];
        }
        break;
    case XNN_F16:
        for (uint32_t i = 0; i < loads; i++) {
            to[i] = ember_half_widen(halves[i]);
        }
        break;
    case XNN_BF16:
        for (uint32_t i = 0; i < loads; i++) {
            to[i] = ember_f32_from_bf16(halves[i]);
        }
        break;
    default:
        for (uint32_t i = 0; i < loads; i++) {
            to[i] = (float)(bytes[i] - zero) * scale;
        }
        break;
    }
    for (uint32_t i = 1; same && i < count; i++) {
        to[i] = to[0];
    }
}

static void store_s8(const ember_xnn_node_t *node, int8_t *to, uint32_t count,
                     const float *from) {
    const float inverse = 1.0f / node->out[0]->scale;
    ember_xnn_range_t range;
    ember_xnn_range(node, &range);
    for (uint32_t i = 0; i < count; i++) {
        to[i] = xnn_quantize(from[i] * inverse, &range);
    }
}

// From int8 to int8: bounded as floats, and rounded together with the zero point.
static void store_bounded(const ember_xnn_node_t *node, int8_t *to, uint32_t count,
                          const float *from) {
    const float inverse = 1.0f / node->out[0]->scale;
    const float zero = (float)node->out[0]->zero;
    for (uint32_t i = 0; i < count; i++) {
        const float x = xnn_clamp(from[i], node->low, node->high);
        to[i] = (int8_t)xnn_round(x * inverse + zero, INT8_MIN, INT8_MAX);
    }
}

void ember_xnn_store(const ember_xnn_node_t *node, void *to, uint32_t count,
                     float *from) {
    const ember_xnn_value_t *value = node->out[0];
    if (value->datatype == XNN_QS8) {
        const bool bounded =
            node->kind == XNN_CLAMP && node->in[0]->datatype == XNN_QS8;
        (bounded ? store_bounded : store_s8)(node, to, count, from);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        from[i] = xnn_clamp(from[i], node->low, node->high);
    }
    if (value->datatype == XNN_F32) {
        memcpy(to, from, 4 * (size_t)count);
        return;
    }
    uint16_t *halves = to;
    if (value->datatype == XNN_BF16) {
        for (uint32_t i = 0; i < count; i++) {
            halves[i] = ember_bf16_from_f32(from[i]);
        }
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        halves[i] = ember_half_narrow(from[i]);
    }
}

// A float16 node has a float16 parameter.
static float parameter_of(const ember_xnn_node_t *node) {
    if (node->kind != XNN_LEAKY_RELU && node->kind != XNN_ELU) {
        return 0.0f;
    }
    const float parameter = ember_float_from(node->params[0]);
    return node->out[0]->datatype == XNN_F16 ? xnn_to_f16(parameter) : parameter;
}

void ember_xnn_unary_run(const ember_xnn_node_t *node, ember_xnn_unary_fn compute) {
    const uint32_t numel = node->out[0]->numel;
    const float parameter = parameter_of(node);
    float x[XNN_CHUNK];
    for (uint32_t at = 0; at < numel; at += XNN_CHUNK) {
        const uint32_t count = numel - at < XNN_CHUNK ? numel - at : XNN_CHUNK;
        ember_xnn_load(node->in[0], xnn_at(node->in[0], at), 1, count, x);
        compute(x, count, parameter);
        ember_xnn_store(node, xnn_at(node->out[0], at), count, x);
    }
}

ember_status_t ember_xnn_unary_prepare(ember_xnn_graph_t *graph,
                                       ember_xnn_node_t *node) {
    (void)graph;
    return ember_xnn_is_plain(node->in[0]) && ember_xnn_is_plain(node->out[0])
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}
