// SPDX-License-Identifier: Apache-2.0
// Matrices turned over, such as images whose channels become innermost or outermost, of
// int8 and float32.
#include "move.h"

#include <arm_neon.h>

// Matrices (rows, columns) behind each other.
typedef struct matrix {
    size_t count;
    size_t rows;
    size_t columns;
} matrix_t;

// Are dimensions behind some that stay only rotated? Then they are rows and columns.
static bool find_matrix(const ember_xnn_node_t *node, matrix_t *matrix) {
    const ember_xnn_value_t *in = node->in[0];
    int32_t order[XNN_MOST_DIMS];
    int32_t same = 0;
    const int32_t rank = in->rank;
    if (!ember_xnn_transpose_order(node, order)) {
        return false;
    }
    *matrix = (matrix_t){1, 1, 1};
    for (; same < rank && order[same] == same; same++) {
        matrix->count *= (uint32_t)in->sizes[same];
    }
    for (int32_t i = same; i < rank; i++) {
        const int32_t next = order[i] + 1 == rank ? same : order[i] + 1;
        if (i + 1 < rank && order[i + 1] != next) {
            return false;
        }
        if (i < order[same]) {
            matrix->rows *= (uint32_t)in->sizes[i];
        } else {
            matrix->columns *= (uint32_t)in->sizes[i];
        }
    }
    return true;
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    matrix_t matrix;
    const uint32_t size = ember_xnn_element_size(node->in[0]->datatype);
    return ember_xnn_same_elements(node, 0) && (size == 1 || size == 4) &&
                   find_matrix(node, &matrix)
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

// --- float32 -------------------------------------------------------------------------

static void turn_four(const float *from, size_t columns, float *to, size_t rows) {
    const float32x4_t r0 = vld1q_f32(from);
    const float32x4_t r1 = vld1q_f32(from + columns);
    const float32x4_t r2 = vld1q_f32(from + 2 * columns);
    const float32x4_t r3 = vld1q_f32(from + 3 * columns);
    const float32x4_t a0 = vzip1q_f32(r0, r2);
    const float32x4_t a1 = vzip2q_f32(r0, r2);
    const float32x4_t b0 = vzip1q_f32(r1, r3);
    const float32x4_t b1 = vzip2q_f32(r1, r3);
    vst1q_f32(to, vzip1q_f32(a0, b0));
    vst1q_f32(to + rows, vzip2q_f32(a0, b0));
    vst1q_f32(to + 2 * rows, vzip1q_f32(a1, b1));
    vst1q_f32(to + 3 * rows, vzip2q_f32(a1, b1));
}

static void turn_f32(const float *from, const matrix_t *matrix, float *to) {
    const size_t rows = matrix->rows;
    const size_t columns = matrix->columns;
    const size_t r4 = rows & ~(size_t)3;
    const size_t c4 = columns & ~(size_t)3;
    for (size_t c = 0; c < columns; c += c < c4 ? 4 : 1) {
        size_t r = 0;
        for (; c < c4 && r < r4; r += 4) {
            turn_four(from + r * columns + c, columns, to + c * rows + r, rows);
        }
        const size_t end = c < c4 ? c + 4 : c + 1;
        for (size_t i = c; i < end; i++) {
            for (size_t j = r; j < rows; j++) {
                to[i * rows + j] = from[j * columns + i];
            }
        }
    }
}

// --- int8 ----------------------------------------------------------------------------

// Pairs of two rows' elements.
static inline int16x8_t pairs(const int8_t *from, size_t columns) {
    const int8x8_t upper = vld1_s8(from);
    const int8x8_t lower = vld1_s8(from + columns);
    return vreinterpretq_s16_s8(
        vzip1q_s8(vcombine_s8(upper, upper), vcombine_s8(lower, lower)));
}

static inline void store_two(int32x4_t x, int8_t *to, size_t rows) {
    const int8x16_t both = vreinterpretq_s8_s32(x);
    vst1_s8(to, vget_low_s8(both));
    vst1_s8(to + rows, vget_high_s8(both));
}

static void turn_eight(const int8_t *from, size_t columns, int8_t *to, size_t rows) {
    const int16x8_t a0 = pairs(from, columns);
    const int16x8_t a1 = pairs(from + 2 * columns, columns);
    const int16x8_t a2 = pairs(from + 4 * columns, columns);
    const int16x8_t a3 = pairs(from + 6 * columns, columns);
    const int32x4_t b0 = vreinterpretq_s32_s16(vzip1q_s16(a0, a1));
    const int32x4_t b1 = vreinterpretq_s32_s16(vzip2q_s16(a0, a1));
    const int32x4_t b2 = vreinterpretq_s32_s16(vzip1q_s16(a2, a3));
    const int32x4_t b3 = vreinterpretq_s32_s16(vzip2q_s16(a2, a3));
    store_two(vzip1q_s32(b0, b2), to, rows);
    store_two(vzip2q_s32(b0, b2), to + 2 * rows, rows);
    store_two(vzip1q_s32(b1, b3), to + 4 * rows, rows);
    store_two(vzip2q_s32(b1, b3), to + 6 * rows, rows);
}

// Three rows, such as the colours of an image; returns how many columns.
static size_t turn_three(const int8_t *from, size_t columns, int8_t *to) {
    size_t c = 0;
    for (; c + 16 <= columns; c += 16) {
        const int8x16x3_t x = {{vld1q_s8(from + c), vld1q_s8(from + columns + c),
                                vld1q_s8(from + 2 * columns + c)}};
        vst3q_s8(to + 3 * c, x);
    }
    return c;
}

static void turn_s8(const int8_t *from, const matrix_t *matrix, int8_t *to) {
    const size_t rows = matrix->rows;
    const size_t columns = matrix->columns;
    const size_t r8 = rows & ~(size_t)7;
    const size_t c8 = columns & ~(size_t)7;
    const size_t first = rows == 3 ? turn_three(from, columns, to) : 0;
    for (size_t c = first; c < columns; c += c < c8 ? 8 : 1) {
        size_t r = 0;
        for (; c < c8 && r < r8; r += 8) {
            turn_eight(from + r * columns + c, columns, to + c * rows + r, rows);
        }
        const size_t end = c < c8 ? c + 8 : c + 1;
        for (size_t i = c; i < end; i++) {
            for (size_t j = r; j < rows; j++) {
                to[i * rows + j] = from[j * columns + i];
            }
        }
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const ember_xnn_value_t *in = node->in[0];
    const bool bytes = ember_xnn_element_size(in->datatype) == 1;
    matrix_t matrix;
    (void)find_matrix(node, &matrix);
    const size_t size = matrix.rows * matrix.columns;
    for (size_t i = 0; i < matrix.count; i++) {
        if (bytes) {
            turn_s8((const int8_t *)in->constant + i * size, &matrix,
                    (int8_t *)node->out[0]->data + i * size);
        } else {
            turn_f32((const float *)in->constant + i * size, &matrix,
                     (float *)node->out[0]->data + i * size);
        }
    }
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, static_transpose_neon, NULL, ember_xnn_transpose_shape,
               XNN_KIND(STATIC_TRANSPOSE));
