// SPDX-License-Identifier: Apache-2.0
// cadence::quantized_w8a32_gru: one step of a single sequence. The output is the new
// hidden state, twice.
#include "kernels/cadence/weights.h"

enum { X, HIDDEN, W_X, W_X_SCALE, W_H, W_H_SCALE, B_X, B_SCALE, B_H, OUT };
enum { GATES = 3 }; // reset, update, new

typedef struct gru {
    ember_w8_t input; // rows of the three gates, one after the other
    ember_w8_t hidden;
    const float *x;
    const float *h; // (size,)
    float *y;       // (2, size)
    int32_t size;
} gru_t;

static float sum_of(const ember_w8_t *layer, const float *x, int32_t row) {
    return ember_w8_row(layer, x, row) + ember_w8_bias(layer, row);
}

static float element(const gru_t *s, int32_t i) {
    const float reset =
        ember_sigmoidf(sum_of(&s->input, s->x, i) + sum_of(&s->hidden, s->h, i));
    const int32_t second = s->size + i, third = second + s->size;
    const float update = ember_sigmoidf(sum_of(&s->input, s->x, second) +
                                        sum_of(&s->hidden, s->h, second));
    const float fresh = ember_tanhf(sum_of(&s->input, s->x, third) +
                                    reset * sum_of(&s->hidden, s->h, third));
    return (1.0f - update) * fresh + update * s->h[i];
}

static int32_t run(void *state) {
    const gru_t *s = state;

    for (int32_t i = 0; i < s->size; i++) {
        s->y[i] = s->y[s->size + i] = element(s, i);
    }
    return EMBER_OK;
}

static bool set_layer(ember_w8_t *layer, const ember_tensor_t *w, uint32_t inner,
                      uint32_t size) {
    layer->inner = layer->row = (int32_t)inner;
    return inner > 0 && w->rank == 2 && (uint32_t)w->sizes[1] == inner &&
           (uint32_t)w->sizes[0] == GATES * size && layer->rows == w->sizes[0];
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    gru_t *s = state;
    ember_tensor_t x, h, y, w_x, w_h;

    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, HIDDEN, &h);
    if (ember_w8_args(&s->input, node, W_X, B_X, B_SCALE, &w_x) != EMBER_OK ||
        ember_w8_args(&s->hidden, node, W_H, B_H, B_SCALE, &w_h) != EMBER_OK) {
        return ember_node_status(node);
    }
    const uint32_t inner = x.rank > 0 ? (uint32_t)x.sizes[x.rank - 1] : 0;
    if (x.rank != 3 || x.numel != inner || h.rank < 1 ||
        h.numel != (uint32_t)h.sizes[h.rank - 1] || h.numel > INT32_MAX / GATES ||
        !set_layer(&s->input, &w_x, inner, h.numel) ||
        !set_layer(&s->hidden, &w_h, h.numel, h.numel)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "w8a32 gru: sizes");
    }
    s->size = (int32_t)h.numel;
    const int32_t sizes[4] = {2, 1, 1, s->size};
    ember_node_output(node, OUT, 4, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_F32 || h.dtype != EMBER_F32 || y.dtype != EMBER_F32) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "w8a32 gru: dtypes");
    }
    s->x = x.data;
    s->h = h.data;
    s->y = y.data;
    ember_node_work(node, GATES * h.numel, inner + h.numel);
    return EMBER_OK;
}

EMBER_KERNEL(cadence_w8a32_gru, gru_t);
