// SPDX-License-Identifier: Apache-2.0
// From floats to int8 with parameters for each row, sixteen elements at a time.
#include "convert_qd8.h"
#include "neon.h"

enum { MANY = 16 };

typedef struct many {
    float32x4_t of[4];
} many_t;

// Elements [at, at + MANY) of a row, zeros past its end.
XNN_INLINE many_t load(const void *row, const bool half, size_t at, uint32_t length) {
    const uint32_t size = half ? 2 : 4;
    const uint8_t *from = (const uint8_t *)row + at * size;
    float room[MANY];
    if (length - at < MANY) {
        memset(room, 0, sizeof(room));
        memcpy(room, from, (length - at) * size);
        from = (const uint8_t *)room;
    }
    many_t x;
    for (uint32_t i = 0; i < 4; i++) {
        const void *four = from + (size_t)4 * i * size;
        x.of[i] = half ? neon_load_f16(four) : vld1q_f32(four);
    }
    return x;
}

XNN_INLINE ember_xnn_limits_t find_limits(const void *from, const bool half,
                                          uint32_t length) {
    many_t low = {0};
    many_t high = {0};
    for (size_t at = 0; at < length; at += MANY) {
        const many_t x = load(from, half, at, length);
        for (uint32_t i = 0; i < 4; i++) {
            low.of[i] = vminq_f32(low.of[i], x.of[i]);
            high.of[i] = vmaxq_f32(high.of[i], x.of[i]);
        }
    }
    const float32x4_t least =
        vminq_f32(vminq_f32(low.of[0], low.of[1]), vminq_f32(low.of[2], low.of[3]));
    const float32x4_t most =
        vmaxq_f32(vmaxq_f32(high.of[0], high.of[1]), vmaxq_f32(high.of[2], high.of[3]));
    return (ember_xnn_limits_t){vminvq_f32(least), vmaxvq_f32(most)};
}

XNN_INLINE void quantize(const void *from, const bool half, uint32_t length, int8_t *to,
                         ember_xnn_row_t *row) {
    const ember_xnn_limits_t limits = find_limits(from, half, length);
    const float exact = xnn_find_parameters(&limits, &row->zero);
    const float factor = half ? xnn_half_factor(exact) : exact;
    const ember_xnn_range_t range = xnn_row_range(row);
    const xnn_neon_quantizer_t how = xnn_neon_quantizer(factor, &range);
    row->scale = 1.0f / exact;
    for (size_t at = 0; at < length; at += MANY) {
        const many_t x = load(from, half, at, length);
        const int8x16_t made = xnn_neon_quantize(x.of, &how);
        if (length - at >= MANY) {
            vst1q_s8(to + at, made);
        } else {
            memcpy(to + at, &made, length - at);
        }
    }
}

static void quantize_row(const ember_xnn_value_t *input, size_t at, uint32_t length,
                         int8_t *to, ember_xnn_row_t *row) {
    if (input->datatype == XNN_F16) {
        quantize((const uint16_t *)input->constant + at, true, length, to, row);
    } else {
        quantize((const float *)input->constant + at, false, length, to, row);
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_qd8_prepare(graph, node);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_qd8_run(node, quantize_row);
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, convert_qd8_neon, NULL, ember_xnn_shape_same,
               XNN_KIND(CONVERT));
