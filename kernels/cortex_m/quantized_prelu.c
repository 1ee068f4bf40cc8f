// SPDX-License-Identifier: Apache-2.0
// ember::quantized_prelu.out, portable. Contract: prelu_s8.h.
#include "kernels/cortex_m/prelu_s8.h"

enum { X, SCALES, ZERO_POINT, SHIFT, ZERO_POINT_OUT, OUT };
enum { MOST_SHIFT = 20, STEPS = 8 };

// Elements behind each of the channels in memory.
static void set_sizes(ember_prelu_s8_t *s, const ember_tensor_t *x) {
    int32_t strides[EMBER_MAX_RANK];

    s->inner = x->numel;
    s->outer = 1;
    if (s->channels > 1 && x->numel > 0) {
        ember_tensor_strides(x, strides);
        s->inner = (uint32_t)strides[1];
        s->outer = x->numel / s->channels / s->inner;
    }
}

ember_status_t ember_prelu_s8_prepare(ember_node_t *node, ember_prelu_s8_t *s) {
    ember_tensor_t x, scales, y;

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, SCALES, &scales);
    ember_node_output_like(node, OUT, &x, &y);
    const int32_t zero = ember_node_int_in(node, ZERO_POINT, INT8_MIN, INT8_MAX);
    const int32_t shift = ember_node_int_in(node, SHIFT, 0, MOST_SHIFT);
    const int32_t zero_y = ember_node_int_in(node, ZERO_POINT_OUT, INT8_MIN, INT8_MAX);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_S8 || y.dtype != EMBER_S8 || scales.dtype != EMBER_S32 ||
        !ember_tensor_same_order(&x, &y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "prelu: dtype or layout");
    }
    const uint32_t slopes = scales.numel - 1; // of none: too many
    if (slopes != 1 && (x.rank < 2 || slopes != (uint32_t)x.sizes[1])) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "prelu: scales");
    }
    *s = (ember_prelu_s8_t){.x = x.data,
                            .y = y.data,
                            .scales = scales.data,
                            .channels = slopes,
                            .start = zero_y * (1 << shift) + ((1 << shift) >> 1),
                            .zero_point = (int16_t)zero,
                            .shift = (uint8_t)shift};
    set_sizes(s, &x);
    ember_node_work(node, x.numel, STEPS);
    return EMBER_OK;
}

void ember_prelu_plane_s8(const ember_prelu_s8_t *s, size_t at, uint32_t count,
                          int32_t slope) {
    const int32_t positive = s->scales[0];

    for (size_t i = at; i < at + count; i++) {
        const int32_t moved = s->x[i] - s->zero_point;
        const uint32_t factor = (uint32_t)(moved < 0 ? slope : positive);
        const uint32_t sum = (uint32_t)moved * factor + (uint32_t)s->start;
        const int32_t y = (int32_t)sum >> s->shift;
        s->y[i] = (int8_t)(y > INT8_MAX ? INT8_MAX : y < INT8_MIN ? INT8_MIN : y);
    }
}

static int32_t run(void *state) {
    const ember_prelu_s8_t *s = state;
    size_t at = 0;

    for (uint32_t o = 0; o < s->outer; o++) {
        for (uint32_t c = 0; c < s->channels; c++) {
            ember_prelu_plane_s8(s, at, s->inner, s->scales[1 + c]);
            at += s->inner;
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_prelu_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_prelu, ember_prelu_s8_t);
