// SPDX-License-Identifier: Apache-2.0
#include "kernels/signal/affine_s16.h"

#include <string.h>

enum { X, WEIGHTS, BIAS, SHIFT, BITS, OUT };
enum { MOST_SHIFT = 31, WIDE = 16, NARROW = 8 };

static void put(const ember_affine_s16_t *s, size_t at, int64_t sum) {
    const int64_t most = ((int64_t)1 << (s->bits - 1)) - 1;
    const int64_t value = (sum + ((int64_t)1 << (s->shift - 1))) >> s->shift;
    const int64_t cut = value > most ? most : value < -most - 1 ? -most - 1 : value;
    if (s->bits == WIDE) {
        ((int16_t *)s->y)[at] = (int16_t)cut;
    } else {
        ((int8_t *)s->y)[at] = (int8_t)cut;
    }
}

void ember_affine_s16_run(const ember_affine_s16_t *s, ember_dot_s16_fn dot) {
    size_t at = 0;
    for (uint32_t row = 0; row < s->rows; row++) {
        const int16_t *x = s->x + (size_t)row * s->n;
        const int16_t *weights = s->weights;
        for (uint32_t j = 0; j < s->m; j++, x += s->step, weights += s->reach) {
            put(s, at++, dot(x, weights, s->reach) + s->bias[j]);
        }
    }
}

static int32_t run(void *state) {
    ember_affine_s16_run(state, ember_dot_s16);
    return EMBER_OK;
}

// ---- prepare ------------------------------------------------------------------------

static bool is_plain(const ember_tensor_t *tensor, ember_dtype_t dtype) {
    return tensor->dtype == dtype && ember_tensor_is_contiguous(tensor);
}

static bool fits(const ember_tensor_t *x, const ember_tensor_t *weights,
                 const ember_tensor_t *bias) {
    return x->rank >= 1 && (weights->rank == 1 || weights->rank == 2) &&
           x->sizes[x->rank - 1] == weights->sizes[weights->rank - 1] &&
           bias->rank == 1 && bias->sizes[0] == weights->sizes[0];
}

ember_status_t ember_affine_s16_prepare(ember_node_t *node, ember_affine_s16_t *s) {
    ember_tensor_t x;
    ember_tensor_t weights;
    ember_tensor_t bias;
    ember_tensor_t y;
    int32_t sizes[EMBER_MAX_RANK];
    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, WEIGHTS, &weights);
    ember_node_tensor(node, BIAS, &bias);
    const int32_t shift = ember_node_int_in(node, SHIFT, 1, MOST_SHIFT);
    const int32_t bits = ember_node_int_in(node, BITS, NARROW, WIDE);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!fits(&x, &weights, &bias) || (bits != NARROW && bits != WIDE)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "affine_s16: shapes, or neither 8 nor 16 bits");
    }
    memcpy(sizes, x.sizes, x.rank * sizeof(*sizes));
    sizes[x.rank - 1] = bias.sizes[0];
    ember_node_output(node, OUT, x.rank, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_plain(&x, EMBER_S16) || !is_plain(&weights, EMBER_S16) ||
        !is_plain(&bias, EMBER_S32) ||
        !is_plain(&y, bits == WIDE ? EMBER_S16 : EMBER_S8)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "affine_s16: not contiguous int16 and int32");
    }
    const bool own = weights.rank == 1;
    const uint32_t n = (uint32_t)x.sizes[x.rank - 1];
    const uint32_t m = bias.numel;
    *s = (ember_affine_s16_t){
        .x = x.data,
        .weights = weights.data,
        .bias = bias.data,
        .y = y.data,
        .rows = m == 0 ? 0 : y.numel / m,
        .n = n,
        .m = m,
        .reach = own ? 1 : n,
        .step = own ? 1 : 0,
        .shift = (uint32_t)shift,
        .bits = (uint32_t)bits,
    };
    ember_node_work(node, y.numel, s->reach + 8);
    return ember_node_status(node);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_affine_s16_prepare(node, state);
}

EMBER_KERNEL(affine_s16, ember_affine_s16_t);
