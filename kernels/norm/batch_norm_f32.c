// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with given statistics, float32, any one dim order:
// y = x scale + shift for each channel, both folded when the channel begins.
#include "kernels/engine/axis.h"
#include "kernels/engine/norm.h"

typedef struct batch_norm {
    ember_axis_t axis;
    const float *weight; // (channels,), or NULL
    const float *bias;   // (channels,), or NULL
    const float *mean;   // (channels,)
    const float *var;    // (channels,)
    float eps;
} batch_norm_t;

static void channel(const batch_norm_t *s, uint32_t c) {
    const uint32_t inner = s->axis.inner;
    const float *x = (const float *)(const void *)s->axis.x;
    float *y = (float *)(void *)s->axis.y;
    const float rstd = 1.0f / __builtin_sqrtf(s->var[c] + s->eps);
    const float scale = s->weight != NULL ? s->weight[c] * rstd : rstd;
    const float shift = (s->bias != NULL ? s->bias[c] : 0.0f) - s->mean[c] * scale;

    for (uint32_t o = 0; o < s->axis.outer; o++) {
        const size_t at = ((size_t)o * s->axis.count + c) * inner;
        for (uint32_t i = 0; i < inner; i++) {
            y[at + i] = x[at + i] * scale + shift;
        }
    }
}

static int32_t run(void *state) {
    const batch_norm_t *s = state;
    for (uint32_t c = 0; c < s->axis.count && s->axis.outer > 0; c++) {
        channel(s, c);
    }
    return EMBER_OK;
}

// A parameter of float32; `floats` becomes false when it is of another dtype.
static const float *vector(ember_node_t *node, uint32_t arg, uint32_t count,
                           bool *floats) {
    ember_tensor_t tensor;
    if (!ember_node_optional_tensor(node, arg, &tensor)) {
        return NULL;
    }
    if (tensor.numel != count || !ember_tensor_is_contiguous(&tensor)) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "batch_norm: a parameter has the wrong size");
    }
    *floats = *floats && tensor.dtype == EMBER_F32;
    return tensor.data;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    batch_norm_t *s = state;
    ember_tensor_t x;
    bool floats = true;

    ember_node_tensor(node, 0, &x);
    const ember_status_t status = ember_axis_prepare_f32(node, &s->axis, 1, 7);
    if (status != EMBER_OK) {
        return status;
    }
    if (x.rank < 2) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "batch_norm: no channels");
    }
    const uint32_t channels = (uint32_t)x.sizes[1];
    const bool given = ember_node_kind(node, 3) == EMBER_TENSOR &&
                       ember_node_kind(node, 4) == EMBER_TENSOR;
    s->weight = vector(node, 1, channels, &floats);
    s->bias = vector(node, 2, channels, &floats);
    s->mean = vector(node, 3, channels, &floats);
    s->var = vector(node, 4, channels, &floats);
    s->eps = (float)ember_node_double(node, 6);
    ember_norm_no_outputs(node, 8);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return floats && given ? EMBER_OK : EMBER_UNSUPPORTED;
}

EMBER_KERNEL(batch_norm_f32, batch_norm_t);
