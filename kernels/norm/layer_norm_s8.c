// SPDX-License-Identifier: Apache-2.0
// Rows of a layer norm. Contract: layer_norm_s8.h.
#include "kernels/norm/layer_norm_s8.h"

enum { X, SCALES, EPSILON, RMS, ZERO_POINT, OUT };
enum { STEPS = 4, STEPS_OF_ROW = 200 };

// The count of a row from (2, count) scales; 0 if the shapes do not fit.
static uint32_t count_of(const ember_tensor_t *x, const ember_tensor_t *scales) {
    if (scales->rank != 2 || scales->sizes[0] != 2) {
        return 0;
    }
    const uint32_t wanted = (uint32_t)scales->sizes[1];
    uint32_t count = 1;
    for (uint32_t d = x->rank; d > 0 && count < wanted; d--) {
        count *= (uint32_t)x->sizes[d - 1];
        if (count == 0) {
            return x->numel == 0 ? wanted : 0;
        }
    }
    return count == wanted && count <= EMBER_NORM_S8_MOST ? count : 0;
}

ember_status_t ember_layer_norm_s8_prepare(ember_node_t *node,
                                           ember_layer_norm_s8_t *s) {
    ember_tensor_t x, scales, y;

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, SCALES, &scales);
    ember_node_output_like(node, OUT, &x, &y);
    const uint64_t epsilon = ember_norm_s8_epsilon(node, EPSILON);
    const int32_t zero = ember_node_int_in(node, ZERO_POINT, INT8_MIN, INT8_MAX);
    const bool rms = ember_node_bool(node, RMS);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_S8 || y.dtype != EMBER_S8 || scales.dtype != EMBER_S32 ||
        !ember_tensor_is_contiguous(&x) || !ember_tensor_is_contiguous(&y) ||
        !ember_tensor_is_contiguous(&scales)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "layer_norm: dtype or layout");
    }
    const uint32_t count = count_of(&x, &scales);
    if (count == 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "layer_norm: scales");
    }
    *s = (ember_layer_norm_s8_t){.x = x.data,
                                 .y = y.data,
                                 .scales = scales.data,
                                 .rows = x.numel / count,
                                 .by = {epsilon, count, (int16_t)zero, rms}};
    ember_node_work(node, x.numel, STEPS);
    ember_node_work(node, s->rows, STEPS_OF_ROW);
    return EMBER_OK;
}

void ember_layer_norm_s8_run(const ember_layer_norm_s8_t *s, ember_norm_sums_s8_t sums,
                             ember_layer_row_s8_fn scale) {
    ember_layer_row_s8_t row = {.x = s->x,
                                .y = s->y,
                                .g = s->scales,
                                .b = s->scales + s->by.count,
                                .count = s->by.count};

    for (uint32_t r = 0; r < s->rows; r++) {
        const ember_sums_s8_t all = ember_norm_all_s8(sums, row.x, row.count);
        const ember_normal_s8_t normal = ember_normal_s8(&s->by, &all);
        row.multiplier = normal.multiplier;
        row.start = ember_line_s32(-normal.mean, normal.multiplier, -normal.rest);
        scale(&row);
        row.x += row.count;
        row.y += row.count;
    }
}

void ember_layer_row_s8(const ember_layer_row_s8_t *row, uint32_t first) {
    for (uint32_t i = first; i < row->count; i++) {
        const int32_t n = ember_line_s32(row->x[i], row->multiplier, row->start);
        const uint32_t upper = (uint32_t)ember_upper_s32(n, row->g[i]);
        const int32_t sum = (int32_t)(upper + (uint32_t)row->b[i]);
        row->y[i] = ember_limited_s8(sum >> EMBER_NORM_S8_SHIFT);
    }
}
