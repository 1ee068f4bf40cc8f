// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with given statistics, float32, any one dim order:
// y = x scale + shift for each channel, both folded when the channel begins.
#include "kernels/norm/batch_norm_f32.h"

#include "kernels/engine/norm.h"
#include "kernels/engine/scalar.h"

static void affine(const float *x, float *y, uint32_t count, uint32_t step, float scale,
                   float shift) {
    if (step == 1) {
        for (uint32_t i = 0; i < count; i++) {
            y[i] = x[i] * scale + shift;
        }
        return;
    }
    for (; count > 0; count--) {
        *y = *x * scale + shift;
        x += step;
        y += step;
    }
}

static int32_t run(void *state) {
    ember_batch_norm_f32_each(state, affine);
    return EMBER_OK;
}

// A float32 parameter; `floats` becomes false if it has another dtype.
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

ember_status_t ember_batch_norm_f32_prepare(ember_node_t *node, void *state) {
    ember_batch_norm_f32_t *s = state;
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
    s->eps = ember_scalar_arg_f32(node, 6);
    ember_norm_no_outputs(node, 8);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return floats && given ? EMBER_OK : EMBER_UNSUPPORTED;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_batch_norm_f32_prepare(node, state);
}

EMBER_KERNEL(batch_norm_f32, ember_batch_norm_f32_t);
