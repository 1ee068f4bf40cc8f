// SPDX-License-Identifier: Apache-2.0
// cadence::quantized_w8a32_conv: along (n, length, channels) with weights (taps,
// filters, channels); outputs are (n, filters, length - taps + 1).
#include <stddef.h>

#include "kernels/cadence/weights.h"

enum { X, W, W_SCALE, BIAS, B_SCALE, OUT };

typedef struct conv {
    ember_w8_t layer; // rows: taps of all filters
    const float *x;
    float *y;
    int32_t batches;
    int32_t length;
    int32_t taps;
    int32_t filters;
} conv_t;

static float output(const conv_t *s, const float *x, int32_t filter) {
    float sum = ember_w8_bias(&s->layer, filter);

    for (int32_t k = 0; k < s->taps; k++) {
        sum += ember_w8_row(&s->layer, x, k * s->filters + filter);
        x += s->layer.inner;
    }
    return sum;
}

static int32_t run(void *state) {
    const conv_t *s = state;
    const ptrdiff_t image = (ptrdiff_t)s->length * s->layer.inner;
    float *y = s->y;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t f = 0; f < s->filters; f++) {
            for (int32_t at = 0; at + s->taps <= s->length; at++) {
                *y++ = output(s, s->x + n * image + (ptrdiff_t)at * s->layer.inner, f);
            }
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    conv_t *s = state;
    ember_tensor_t x, y, w;

    ember_node_tensor(node, X, &x);
    const ember_status_t status = ember_w8_args(&s->layer, node, W, BIAS, B_SCALE, &w);
    if (status != EMBER_OK) {
        return status;
    }
    if (x.rank != 3 || w.rank != 3 || w.numel == 0 || x.sizes[2] != w.sizes[2] ||
        s->layer.rows != w.sizes[1] || x.sizes[1] < w.sizes[0]) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "w8a32 convolution: sizes");
    }
    s->batches = x.sizes[0];
    s->length = x.sizes[1];
    s->taps = w.sizes[0];
    s->filters = w.sizes[1];
    s->layer.inner = s->layer.row = w.sizes[2];
    const int32_t sizes[3] = {s->batches, s->filters, s->length - s->taps + 1};
    ember_node_output(node, OUT, 3, sizes, &y);
    if (ember_node_status(node) != EMBER_OK || !ember_cadence_plain(node, &x) ||
        !ember_cadence_plain(node, &y)) {
        return ember_node_status(node);
    }
    if (x.dtype != EMBER_F32 || y.dtype != EMBER_F32) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "w8a32 convolution: dtypes");
    }
    s->x = x.data;
    s->y = y.data;
    ember_node_work(node, y.numel, w.numel / (uint32_t)s->filters);
    return EMBER_OK;
}

EMBER_KERNEL(cadence_w8a32_conv, conv_t);
