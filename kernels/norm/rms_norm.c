// SPDX-License-Identifier: Apache-2.0
// Division by the root of the mean square over the last dimensions, any float dtype, in
// double.
#include <float.h>

#include "kernels/engine/norm.h"

enum { X, SIZES, WEIGHT, EPS, Y };

static int32_t run(void *state) {
    ember_norm_rows_run(state);
    return EMBER_OK;
}

// That of the dtype that PyTorch computes in, where none is given.
static double eps_of(ember_node_t *node, const ember_tensor_t *x) {
    if (ember_node_kind(node, EPS) != EMBER_NONE) {
        return ember_node_double(node, EPS);
    }
    return x->dtype == EMBER_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
}

// Whether the last dimensions are those that the list has.
static bool are_last(ember_node_t *node, const ember_tensor_t *x, uint32_t count) {
    int32_t sizes[EMBER_MAX_RANK];

    if (count > x->rank ||
        ember_node_ints(node, SIZES, sizes, EMBER_MAX_RANK) != count) {
        return false;
    }
    for (uint32_t d = 0; d < count; d++) {
        if (sizes[d] != x->sizes[x->rank - count + d]) {
            return false;
        }
    }
    return true;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_norm_rows_t *s = state;
    ember_tensor_t x, y;

    ember_node_tensor(node, X, &x);
    ember_node_output_like(node, Y, &x, &y);
    const uint32_t normal = ember_node_list_count(node, SIZES);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!are_last(node, &x, normal)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "rms_norm: sizes are not those of the last dimensions");
    }
    *s = (ember_norm_rows_t){.rows = 1, .count = 1, .repeat = 1, .uncentred = true};
    if (ember_norm_rows_tensors(s, &x, &y) != EMBER_OK) {
        return EMBER_UNSUPPORTED;
    }
    for (uint32_t d = 0; x.numel > 0 && d < x.rank; d++) {
        const bool row = d < x.rank - normal;
        s->rows *= row ? (uint32_t)x.sizes[d] : 1;
        s->count *= row ? 1 : (uint32_t)x.sizes[d];
    }
    s->rows = x.numel > 0 ? s->rows : 0;
    s->period = s->count;
    ember_node_work(node, s->rows, EMBER_STEPS_RESULT);
    s->eps = eps_of(node, &x);
    if (x.numel > 0) {
        ember_norm_vector(node, WEIGHT, s->count, &s->weight);
    }
    return ember_node_status(node);
}

EMBER_KERNEL(rms_norm, ember_norm_rows_t);
