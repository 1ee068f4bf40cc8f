// SPDX-License-Identifier: Apache-2.0
// Transposes matrices, such as images from channels last to channels first and back,
// with elements of one, two or four bytes.
#include "move.h"
#include "neon.h"

// Adjacent matrices (rows, columns).
typedef struct matrix {
    size_t count;
    size_t rows;
    size_t columns;
} matrix_t;

// Whether the dimensions after some that stay are only rotated: then they are rows and
// columns.
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
    return ember_xnn_same_elements(node, 0) && size <= 4 && find_matrix(node, &matrix)
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

// --- squares -------------------------------------------------------------------------

// Transposes a square of elements; rows are this many bytes apart.
typedef void (*turn_fn)(const int8_t *from, size_t pitch, int8_t *to, size_t to_pitch);

static inline int32x4_t words_at(const int8_t *from) {
    return vreinterpretq_s32_s8(vld1q_s8(from));
}

static inline void store_words(int32x4_t x, int8_t *to) {
    vst1q_s8(to, vreinterpretq_s8_s32(x));
}

XNN_INLINE void turn_words(const int8_t *from, size_t pitch, int8_t *to,
                           size_t to_pitch) {
    const int32x4_t r0 = words_at(from);
    const int32x4_t r1 = words_at(from + pitch);
    const int32x4_t r2 = words_at(from + 2 * pitch);
    const int32x4_t r3 = words_at(from + 3 * pitch);
    const int32x4_t a0 = vzip1q_s32(r0, r2);
    const int32x4_t a1 = vzip2q_s32(r0, r2);
    const int32x4_t b0 = vzip1q_s32(r1, r3);
    const int32x4_t b1 = vzip2q_s32(r1, r3);
    store_words(vzip1q_s32(a0, b0), to);
    store_words(vzip2q_s32(a0, b0), to + to_pitch);
    store_words(vzip1q_s32(a1, b1), to + 2 * to_pitch);
    store_words(vzip2q_s32(a1, b1), to + 3 * to_pitch);
}

// Two rows of eight bytes each.
static inline void store_two(int32x4_t x, int8_t *to, size_t pitch) {
    const int8x16_t both = vreinterpretq_s8_s32(x);
    vst1_s8(to, vget_low_s8(both));
    vst1_s8(to + pitch, vget_high_s8(both));
}

// Eight bytes of each of two rows.
static inline int8x16_t two_at(const int8_t *from, size_t pitch) {
    return vcombine_s8(vld1_s8(from), vld1_s8(from + pitch));
}

XNN_INLINE void turn_halves(const int8_t *from, size_t pitch, int8_t *to,
                            size_t to_pitch) {
    const int16x8_t upper = vreinterpretq_s16_s8(two_at(from, 2 * pitch));
    const int16x8_t lower = vreinterpretq_s16_s8(two_at(from + pitch, 2 * pitch));
    const int32x4_t a0 = vreinterpretq_s32_s16(vzip1q_s16(upper, lower));
    const int32x4_t a1 = vreinterpretq_s32_s16(vzip2q_s16(upper, lower));
    store_two(vzip1q_s32(a0, a1), to, to_pitch);
    store_two(vzip2q_s32(a0, a1), to + 2 * to_pitch, to_pitch);
}

// Pairs of two rows' bytes.
static inline int16x8_t pairs(const int8_t *from, size_t pitch) {
    const int8x8_t upper = vld1_s8(from);
    const int8x8_t lower = vld1_s8(from + pitch);
    return vreinterpretq_s16_s8(
        vzip1q_s8(vcombine_s8(upper, upper), vcombine_s8(lower, lower)));
}

XNN_INLINE void turn_bytes(const int8_t *from, size_t pitch, int8_t *to,
                           size_t to_pitch) {
    const int16x8_t a0 = pairs(from, pitch);
    const int16x8_t a1 = pairs(from + 2 * pitch, pitch);
    const int16x8_t a2 = pairs(from + 4 * pitch, pitch);
    const int16x8_t a3 = pairs(from + 6 * pitch, pitch);
    const int32x4_t b0 = vreinterpretq_s32_s16(vzip1q_s16(a0, a1));
    const int32x4_t b1 = vreinterpretq_s32_s16(vzip2q_s16(a0, a1));
    const int32x4_t b2 = vreinterpretq_s32_s16(vzip1q_s16(a2, a3));
    const int32x4_t b3 = vreinterpretq_s32_s16(vzip2q_s16(a2, a3));
    store_two(vzip1q_s32(b0, b2), to, to_pitch);
    store_two(vzip2q_s32(b0, b2), to + 2 * to_pitch, to_pitch);
    store_two(vzip1q_s32(b1, b3), to + 4 * to_pitch, to_pitch);
    store_two(vzip2q_s32(b1, b3), to + 6 * to_pitch, to_pitch);
}

// --- matrices ------------------------------------------------------------------------

// Three rows, such as the colours of an image; returns how many columns.
XNN_INLINE size_t turn_three(const int8_t *from, size_t columns, int8_t *to,
                             size_t size) {
    const size_t pitch = columns * size;
    size_t at = 0;
    for (; at + 16 <= pitch; at += 16, to += 48) {
        const int8x16x3_t x = {{vld1q_s8(from + at), vld1q_s8(from + pitch + at),
                                vld1q_s8(from + 2 * pitch + at)}};
        if (size == 1) {
            vst3q_s8(to, x);
        } else if (size == 2) {
            const int16x8x3_t y = {{vreinterpretq_s16_s8(x.val[0]),
                                    vreinterpretq_s16_s8(x.val[1]),
                                    vreinterpretq_s16_s8(x.val[2])}};
            vst3q_s16((int16_t *)(void *)to, y);
        } else {
            const int32x4x3_t y = {{vreinterpretq_s32_s8(x.val[0]),
                                    vreinterpretq_s32_s8(x.val[1]),
                                    vreinterpretq_s32_s8(x.val[2])}};
            vst3q_s32((int32_t *)(void *)to, y);
        }
    }
    return at / size;
}

// Squares of `side` elements of `size` bytes, then the rest.
XNN_INLINE void turn(const int8_t *from, const matrix_t *matrix, int8_t *to,
                     size_t size, size_t side, turn_fn square) {
    const size_t rows = matrix->rows, columns = matrix->columns;
    const size_t pitch = columns * size, to_pitch = rows * size;
    const size_t whole_rows = rows & ~(side - 1);
    const size_t whole_columns = columns & ~(side - 1);
    size_t c = rows == 3 ? turn_three(from, columns, to, size) : 0;
    while (c < columns) {
        const size_t end = c < whole_columns ? c + side : c + 1;
        size_t r = 0;
        for (; c < whole_columns && r < whole_rows; r += side) {
            square(from + r * pitch + c * size, pitch, to + c * to_pitch + r * size,
                   to_pitch);
        }
        for (; c < end; c++) {
            for (size_t j = r; j < rows; j++) {
                memcpy(to + c * to_pitch + j * size, from + j * pitch + c * size, size);
            }
        }
    }
}

static void turn_one(const int8_t *from, const matrix_t *matrix, int8_t *to,
                     size_t size) {
    if (size == 1) {
        turn(from, matrix, to, 1, 8, turn_bytes);
    } else if (size == 2) {
        turn(from, matrix, to, 2, 4, turn_halves);
    } else {
        turn(from, matrix, to, 4, 4, turn_words);
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const ember_xnn_value_t *in = node->in[0];
    const size_t size = ember_xnn_element_size(in->datatype);
    const int8_t *from = in->constant;
    int8_t *to = node->out[0]->data;
    matrix_t matrix;
    (void)find_matrix(node, &matrix);
    const size_t bytes = matrix.rows * matrix.columns * size;
    for (size_t i = 0; i < matrix.count; i++) {
        turn_one(from + i * bytes, &matrix, to + i * bytes, size);
    }
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, static_transpose_neon, NULL, ember_xnn_transpose_shape,
               XNN_KIND(STATIC_TRANSPOSE));
