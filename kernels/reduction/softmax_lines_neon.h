// SPDX-License-Identifier: Apache-2.0
// Lines of softmax and log_softmax with NEON, float32 or float16 in one layout. Lines
// that are float16, or not adjacent, are copied to scratch.
#ifndef EMBER_KERNELS_REDUCTION_SOFTMAX_LINES_NEON_H
#define EMBER_KERNELS_REDUCTION_SOFTMAX_LINES_NEON_H

#include "kernels/engine/axis.h"
#include "kernels/engine/neon/mathf_neon.h"
#include "kernels/engine/neon/widen_neon.h"

typedef struct ember_softmax_lines {
    ember_axis_t axis;
    float *line; // scratch; NULL: lines are computed in place
} ember_softmax_lines_t;

// y may be x.
typedef void (*ember_softmax_line_fn)(const float *x, float *y, uint32_t count);

static inline ember_status_t ember_softmax_lines_prepare(ember_node_t *node,
                                                         void *state) {
    ember_softmax_lines_t *s = state;
    const ember_axis_t *axis = &s->axis;
    ember_tensor_t x;

    ember_node_tensor(node, 0, &x);
    const uint32_t dim = ember_node_dim(node, 1, x.rank);
    const ember_status_t status = ember_axis_prepare(node, &s->axis, dim, 3);
    if (status != EMBER_OK) {
        return status;
    }
    const bool half = axis->x_dtype == EMBER_F16;
    if (axis->x_dtype != axis->y_dtype || (!half && axis->x_dtype != EMBER_F32)) {
        return EMBER_UNSUPPORTED;
    }
    s->line = NULL;
    if (half || axis->inner != 1) {
        s->line = ember_node_scratch(node, (size_t)axis->count * sizeof(float));
    }
    return ember_node_status(node);
}

EMBER_NEON_INLINE void neon_softmax_lines(const ember_softmax_lines_t *s,
                                          ember_softmax_line_fn compute) {
    const ember_axis_t *axis = &s->axis;
    const bool half = axis->x_dtype == EMBER_F16;
    const int32_t step = (int32_t)axis->inner * axis->x_size;
    const int32_t count = (int32_t)axis->count;

    for (uint32_t o = 0; o < axis->outer; o++) {
        for (uint32_t i = 0; i < axis->inner; i++) {
            const size_t at = (size_t)o * axis->count * axis->inner + i;
            const char *x = axis->x + at * axis->x_size;
            char *y = axis->y + at * axis->y_size;
            if (s->line == NULL) {
                compute((const void *)x, (void *)y, axis->count);
                continue;
            }
            ember_neon_widen(s->line, x, step, count, half);
            compute(s->line, s->line, axis->count);
            ember_neon_narrow(y, step, s->line, count, half);
        }
    }
}

// A NaN makes the whole line NaN, whatever this is.
static inline float neon_largest(const float *x, uint32_t count) {
    const uint32_t whole = count & ~3u;
    float32x4_t most = vdupq_n_f32(-EMBER_INF);
    for (uint32_t i = 0; i < whole; i += 4) {
        most = vmaxq_f32(most, vld1q_f32(x + i));
    }
    float top = vmaxvq_f32(most);
    for (uint32_t i = whole; i < count; i++) {
        top = x[i] > top ? x[i] : top;
    }
    return top;
}

// The sum of exp(x - top), in the order of elements; also stored to `y` if `kept`,
// which is a constant.
EMBER_NEON_INLINE float neon_powers(const float *x, float *y, bool kept, uint32_t count,
                                    float top) {
    const uint32_t whole = count & ~3u;
    const float32x4_t tops = vdupq_n_f32(top);
    float sum = 0.0f;
    for (uint32_t i = 0; i < whole; i += 4) {
        const float32x4_t powers = neon_exp(vsubq_f32(vld1q_f32(x + i), tops));
        float lanes[4];
        float *four = kept ? y + i : lanes;
        vst1q_f32(four, powers);
        for (uint32_t lane = 0; lane < 4; lane++) {
            sum += four[lane];
        }
    }
    for (uint32_t i = whole; i < count; i++) {
        const float power = ember_expf(x[i] - top);
        sum += power;
        if (kept) {
            y[i] = power;
        }
    }
    return sum;
}

#endif // EMBER_KERNELS_REDUCTION_SOFTMAX_LINES_NEON_H
