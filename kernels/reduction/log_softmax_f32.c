// SPDX-License-Identifier: Apache-2.0
// y = x - log(sum of exp(x)) along one dimension, float32. The largest element is
// subtracted first, to avoid overflow. y may be x.
#include "kernels/engine/axis.h"
#include "kernels/engine/mathf.h"

static void line(const float *x, float *y, uint32_t count, uint32_t step) {
    float top = -EMBER_INF;
    float sum = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        top = x[i * step] > top ? x[i * step] : top;
    }
    for (uint32_t i = 0; i < count; i++) {
        sum += ember_expf(x[i * step] - top);
    }
    const float scale = ember_logf(sum);
    for (uint32_t i = 0; i < count; i++) {
        y[i * step] = x[i * step] - top - scale;
    }
}

static int32_t run(void *state) {
    const ember_axis_t *s = state;
    for (uint32_t o = 0; o < s->outer; o++) {
        for (uint32_t n = 0; n < s->inner; n++) {
            const size_t at = (size_t)o * s->count * s->inner + n;
            line((const float *)(const void *)s->x + at, (float *)(void *)s->y + at,
                 s->count, s->inner);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    return ember_axis_prepare_f32(node, state, ember_node_dim(node, 1, x.rank), 3);
}

EMBER_KERNEL(log_softmax_f32, ember_axis_t);
