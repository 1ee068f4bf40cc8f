// SPDX-License-Identifier: Apache-2.0
// Layer normalisation over the last dimensions, float32, contiguous.
#include "ember/node.h"
#include "kernels/engine/scalar.h"

typedef struct layer_norm {
    const float *x;      // (rows, count)
    float *y;            // (rows, count); may be x
    const float *weight; // (count,), or NULL
    const float *bias;   // (count,), or NULL
    float *mean;         // (rows,)
    float *rstd;         // (rows,)
    uint32_t rows;
    uint32_t count;
    float eps;
} layer_norm_t;

static void row(const layer_norm_t *s, uint32_t r) {
    const float *x = s->x + (size_t)r * s->count;
    float *y = s->y + (size_t)r * s->count;
    float sum = 0.0f;
    float squares = 0.0f;
    for (uint32_t i = 0; i < s->count; i++) {
        sum += x[i];
    }
    const float mean = sum / (float)s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        squares += (x[i] - mean) * (x[i] - mean);
    }
    const float rstd = 1.0f / __builtin_sqrtf(squares / (float)s->count + s->eps);
    for (uint32_t i = 0; i < s->count; i++) {
        const float normal = (x[i] - mean) * rstd;
        const float scaled = s->weight != NULL ? normal * s->weight[i] : normal;
        y[i] = s->bias != NULL ? scaled + s->bias[i] : scaled;
    }
    s->mean[r] = mean;
    s->rstd[r] = rstd;
}

static int32_t run(void *state) {
    const layer_norm_t *s = state;
    for (uint32_t r = 0; r < s->rows; r++) {
        row(s, r);
    }
    return EMBER_OK;
}

static bool is_float(const ember_tensor_t *tensor) {
    return tensor->dtype == EMBER_F32 && ember_tensor_is_contiguous(tensor);
}

static const float *vector(ember_node_t *node, uint32_t arg, uint32_t count,
                           bool *floats) {
    ember_tensor_t tensor;
    if (!ember_node_optional_tensor(node, arg, &tensor)) {
        return NULL;
    }
    if (tensor.numel != count) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "layer_norm: a parameter has the wrong size");
    }
    *floats = *floats && is_float(&tensor);
    return tensor.data;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    layer_norm_t *s = state;
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t x;
    ember_tensor_t y;
    ember_tensor_t mean;
    ember_tensor_t rstd;

    ember_node_tensor(node, 0, &x);
    ember_node_output_like(node, 5, &x, &y);
    const uint32_t normal = ember_node_list_count(node, 1);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    bool floats = is_float(&x) && is_float(&y);
    if (!floats || normal > x.rank || x.numel == 0) {
        return EMBER_UNSUPPORTED; // the generic kernel says what is wrong
    }
    s->count = 1;
    for (uint32_t d = 0; d < x.rank; d++) {
        const bool outer = d < x.rank - normal;
        s->count *= outer ? 1 : (uint32_t)x.sizes[d];
        sizes[d] = outer ? x.sizes[d] : 1;
    }
    ember_node_output(node, 6, x.rank, sizes, &mean);
    ember_node_output(node, 7, x.rank, sizes, &rstd);
    s->x = x.data;
    s->y = y.data;
    s->weight = vector(node, 2, s->count, &floats);
    s->bias = vector(node, 3, s->count, &floats);
    s->mean = mean.data;
    s->rstd = rstd.data;
    s->rows = x.numel / s->count;
    s->eps = ember_scalar_arg_f32(node, 4);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return floats && is_float(&mean) && is_float(&rstd) ? EMBER_OK : EMBER_UNSUPPORTED;
}

EMBER_KERNEL(layer_norm_f32, layer_norm_t);
