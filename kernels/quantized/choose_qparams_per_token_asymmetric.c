// SPDX-License-Identifier: Apache-2.0
// choose_qparams_per_token_asymmetric: a scale and a zero point to int8 for each line
// along the last dimension. Contract: choose_qparams_per_token_asymmetric.h.
#include "kernels/quantized/choose_qparams_per_token_asymmetric.h"

#include <math.h>
#include <string.h>

#include "kernels/engine/affine.h"

enum { SELF, DTYPE, SCALE, ZERO_POINT };
enum { OPERANDS = EMBER_CHOOSE_TOKENS_OPERANDS };

#define LOW  (-128.0)
#define HIGH 127.0

static double clamped(double number, double low, double high) {
    const double least = number < low ? low : number;
    const double clamp = least > high ? high : least;
    return number != number ? number : clamp;
}

// The zero point that leaves the smaller error at the ends of the range. Every step is
// rounded to the input's dtype.
static double zero_point_of(uint32_t dtype, ember_extent_t extent, double scale) {
    const double low = ember_rounded(dtype, extent.low / scale);
    const double high = ember_rounded(dtype, extent.high / scale);
    const double low_error = ember_rounded(dtype, LOW + low);
    const double high_error = ember_rounded(dtype, HIGH + high);
    const bool from_low = ember_rounded(dtype, low_error + high_error) > 0.0;
    const double zero = ember_rounded(dtype, from_low ? LOW - low : HIGH - high);
    return nearbyint(clamped(zero, LOW, HIGH));
}

static void choose(const ember_choose_tokens_t *s, ember_extent_t extent,
                   char *scale_at, char *zero_at) {
    const double epsilon = ember_rounded(s->x_dtype, 1.1920928955078125e-7);
    const double width = ember_rounded(s->x_dtype, extent.high - extent.low);
    const double scale =
        ember_larger(ember_rounded(s->x_dtype, width / (HIGH - LOW)), epsilon);

    ember_put_double(s->zero_dtype, zero_at, zero_point_of(s->x_dtype, extent, scale));
    ember_put_double(s->scale_dtype, scale_at, scale);
}

void ember_choose_tokens_run(const ember_choose_tokens_t *s,
                             ember_extent_fn extent_of) {
    ember_walk_t walk;
    if (s->dims == 0) {
        return;
    }
    const int32_t *row = s->table + (OPERANDS + 1) * (s->dims - 1u);
    ember_walk_start(&walk, s->table, s->dims, OPERANDS);
    walk.at[0] = s->scale;
    walk.at[1] = s->zero_point;
    walk.at[2] = s->x;
    do {
        for (int32_t i = 0; i < row[0]; i++) {
            const char *x = walk.at[2] + (ptrdiff_t)i * row[3];
            choose(s, extent_of(s->x_dtype, x, s->step, s->count),
                   walk.at[0] + (ptrdiff_t)i * row[1],
                   walk.at[1] + (ptrdiff_t)i * row[2]);
        }
    } while (ember_walk_next(&walk));
}

// The walk over all dimensions except the last of x.
static void fill(ember_choose_tokens_t *s, const ember_tensor_t *x,
                 const ember_tensor_t *scale, const ember_tensor_t *zero) {
    int32_t rows[EMBER_MAX_RANK * (OPERANDS + 1)];
    int32_t strides[OPERANDS][EMBER_MAX_RANK];
    const uint32_t lines = x->rank - 1u;

    ember_tensor_strides(scale, strides[0]);
    ember_tensor_strides(zero, strides[1]);
    ember_tensor_strides(x, strides[2]);
    for (uint32_t d = 0; d < lines; d++) {
        const int32_t row[] = {x->sizes[d], strides[0][d] * scale->element_size,
                               strides[1][d] * zero->element_size,
                               strides[2][d] * x->element_size};
        memcpy(rows + d * (OPERANDS + 1u), row, sizeof(row));
    }
    s->count = (uint32_t)x->sizes[lines];
    s->step = strides[2][lines] * x->element_size;
    const uint32_t dims = ember_walk_join(rows, lines, OPERANDS);
    s->dims = dims > EMBER_WALK_DIMS ? 0 : (uint8_t)dims;
    memcpy(s->table, rows, s->dims * (OPERANDS + 1u) * sizeof(*rows));
}

ember_status_t ember_choose_tokens_prepare(ember_node_t *node, void *state) {
    ember_choose_tokens_t *s = state;
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t x;
    ember_tensor_t scale;
    ember_tensor_t zero;

    ember_node_tensor(node, SELF, &x);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.rank == 0) {
        return EMBER_UNSUPPORTED;
    }
    memcpy(sizes, x.sizes, x.rank * sizeof(*sizes));
    sizes[x.rank - 1u] = 1;
    ember_node_output(node, SCALE, x.rank, sizes, &scale);
    ember_node_output(node, ZERO_POINT, x.rank, sizes, &zero);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_node_work(node, scale.numel, EMBER_STEPS_RESULT);
    *s = (ember_choose_tokens_t){.x = x.data,
                                 .scale = scale.data,
                                 .zero_point = zero.data,
                                 .x_dtype = x.dtype,
                                 .scale_dtype = scale.dtype,
                                 .zero_dtype = zero.dtype};
    if (!ember_is_real(x.dtype) || !ember_is_real(scale.dtype) ||
        ember_is_real(zero.dtype)) {
        return EMBER_UNSUPPORTED;
    }
    if (scale.numel == 0) {
        return EMBER_OK;
    }
    if (x.numel == 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "choose_qparams: no elements");
    }
    fill(s, &x, &scale, &zero);
    return s->dims > 0 ? EMBER_OK : EMBER_UNSUPPORTED;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_choose_tokens_prepare(node, state);
}

static int32_t run(void *state) {
    ember_choose_tokens_run(state, ember_extent_of);
    return EMBER_OK;
}

EMBER_KERNEL(choose_qparams_per_token_asymmetric, ember_choose_tokens_t);
