// SPDX-License-Identifier: Apache-2.0
// cadence::quantized_w8a32_linear: weights are (outputs, inputs), as in the exporter's
// shapes; its reference takes (inputs, outputs), which is used if only that fits the
// sizes.
#include <string.h>

#include "kernels/cadence/weights.h"

enum { X, W, W_SCALE, BIAS, B_SCALE, OUT };

typedef struct linear {
    ember_w8_t layer;
    const float *x;
    float *y;
    int32_t vectors;
} linear_t;

static int32_t run(void *state) {
    const linear_t *s = state;
    const float *x = s->x;
    float *y = s->y;

    for (int32_t i = 0; i < s->vectors; i++) {
        for (int32_t j = 0; j < s->layer.rows; j++) {
            *y++ = ember_w8_row(&s->layer, x, j) + ember_w8_bias(&s->layer, j);
        }
        x += s->layer.inner;
    }
    return EMBER_OK;
}

static bool set_layout(ember_w8_t *layer, const ember_tensor_t *w, int32_t inner) {
    if (w->rank != 2 || inner < 1) {
        return false;
    }
    layer->inner = inner;
    if (w->sizes[1] == inner && w->sizes[0] == layer->rows) {
        layer->row = inner;
        return true;
    }
    layer->row = 1;
    layer->step = layer->rows;
    return w->sizes[0] == inner && w->sizes[1] == layer->rows;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    linear_t *s = state;
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t x, y, w;

    ember_node_tensor(node, X, &x);
    const ember_status_t status = ember_w8_args(&s->layer, node, W, BIAS, B_SCALE, &w);
    if (status != EMBER_OK) {
        return status;
    }
    if (x.rank < 1 || !set_layout(&s->layer, &w, x.sizes[x.rank - 1])) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "w8a32 linear: sizes");
    }
    memcpy(sizes, x.sizes, x.rank * sizeof(sizes[0]));
    sizes[x.rank - 1] = s->layer.rows;
    ember_node_output(node, OUT, x.rank, sizes, &y);
    if (ember_node_status(node) != EMBER_OK || !ember_cadence_plain(node, &x) ||
        !ember_cadence_plain(node, &y)) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_F32 || y.dtype != EMBER_F32) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "w8a32 linear: dtypes");
    }
    s->x = x.data;
    s->y = y.data;
    s->vectors = (int32_t)(x.numel / (uint32_t)s->layer.inner);
    ember_node_work(node, y.numel, (uint32_t)s->layer.inner);
    return EMBER_OK;
}

EMBER_KERNEL(cadence_w8a32_linear, linear_t);
