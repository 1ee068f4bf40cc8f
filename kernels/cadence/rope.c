// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings. Contract: rope.h.
#include "kernels/cadence/rope.h"

enum { X, SIN, COS, POSITIONS, OUT };

static void turn(const ember_rope_t *s, const float *x, float *y, ptrdiff_t position,
                 bool halves) {
    const float *sin = s->sin + position * s->pairs;
    const float *cos = s->cos + position * s->pairs;
    const int32_t other = halves ? s->pairs : 1;
    const int32_t step = halves ? 1 : 2;

    for (int32_t i = 0; i < s->pairs; i++) {
        const float x0 = x[i * step], x1 = x[i * step + other];
        y[i * step] = x0 * cos[i] - x1 * sin[i];
        y[i * step + other] = x0 * sin[i] + x1 * cos[i];
    }
}

int32_t ember_rope_run(const ember_rope_t *s, bool halves) {
    const float *x = s->x;
    float *y = s->y;

    for (int32_t token = 0; token < s->tokens; token++) {
        const int64_t position = ember_rope_position(s, token);
        if (position < 0 || position >= s->positions) {
            return EMBER_DATA_RANGE;
        }
        for (int32_t head = 0; head < s->heads; head++) {
            turn(s, x, y, (ptrdiff_t)position, halves);
            x += 2 * s->pairs;
            y += 2 * s->pairs;
        }
    }
    return EMBER_OK;
}

// Sizes of the operands; false if they do not fit.
static bool set_sizes(ember_rope_t *s, const ember_tensor_t *x,
                      const ember_tensor_t *sin, const ember_tensor_t *cos) {
    if (x->rank < 4 || x->rank > 5 || x->sizes[0] != 1 || x->numel == 0) {
        return false;
    }
    s->tokens = x->sizes[1];
    s->heads = x->sizes[2];
    const uint32_t head = x->numel / ((uint32_t)s->tokens * (uint32_t)s->heads);
    s->pairs = (int32_t)(head / 2);
    if (head % 2 != 0 || sin->numel != cos->numel || sin->numel % (head / 2) != 0) {
        return false;
    }
    s->positions = (int32_t)(sin->numel / (head / 2));
    return true;
}

ember_status_t ember_rope_read(ember_rope_t *s, ember_node_t *node, uint32_t out,
                               ember_tensor_t *x, ember_tensor_t *y) {
    ember_tensor_t sin, cos, at;

    ember_node_tensor(node, X, x);
    ember_node_tensor(node, SIN, &sin);
    ember_node_tensor(node, COS, &cos);
    const bool given = ember_node_optional_tensor(node, POSITIONS, &at);
    ember_node_output_like(node, out, x, y);
    if (ember_node_status(node) != EMBER_OK || !ember_cadence_plain(node, x) ||
        !ember_cadence_plain(node, y) || !ember_cadence_plain(node, &sin) ||
        !ember_cadence_plain(node, &cos)) {
        return ember_node_status(node);
    }
    if (x->dtype != y->dtype || sin.dtype != EMBER_F32 || cos.dtype != EMBER_F32 ||
        (given && at.dtype != EMBER_S32 && at.dtype != EMBER_S64)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "rope: wrong dtypes");
    }
    if (!set_sizes(s, x, &sin, &cos) || (given && at.numel != (uint32_t)s->tokens)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "rope: sizes do not fit");
    }
    s->x = x->data;
    s->y = y->data;
    s->sin = sin.data;
    s->cos = cos.data;
    s->at = at.data;
    s->at_dtype = at.dtype;
    return EMBER_OK;
}

ember_status_t ember_rope_prepare(ember_rope_t *s, ember_node_t *node) {
    ember_tensor_t x, y;
    const ember_status_t status = ember_rope_read(s, node, OUT, &x, &y);

    if (status == EMBER_OK && x.dtype != EMBER_F32) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "rope: wrong dtypes");
    }
    return status;
}
