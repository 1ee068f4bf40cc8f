// SPDX-License-Identifier: Apache-2.0
#include "kernels/norm/layer_norm_rows.h"

#include "kernels/engine/scalar.h"

static bool is_dense(const ember_tensor_t *tensor, ember_dtype_t dtype) {
    return tensor->dtype == dtype && ember_tensor_is_contiguous(tensor);
}

static const void *vector(ember_node_t *node, uint32_t arg, uint32_t count,
                          ember_dtype_t dtype, bool *dense) {
    ember_tensor_t tensor;
    if (!ember_node_optional_tensor(node, arg, &tensor)) {
        return NULL;
    }
    if (tensor.numel != count) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "layer_norm: a parameter has the wrong size");
    }
    *dense = *dense && is_dense(&tensor, dtype);
    return tensor.data;
}

ember_status_t ember_layer_norm_prepare(ember_node_t *node, ember_layer_norm_rows_t *s,
                                        ember_dtype_t dtype) {
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
    bool dense = is_dense(&x, dtype) && is_dense(&y, dtype);
    if (!dense || normal > x.rank || x.numel == 0) {
        return EMBER_UNSUPPORTED; // the generic kernel reports the reason
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
    s->weight = vector(node, 2, s->count, dtype, &dense);
    s->bias = vector(node, 3, s->count, dtype, &dense);
    s->mean = mean.data;
    s->rstd = rstd.data;
    s->rows = x.numel / s->count;
    s->eps = ember_scalar_arg_f32(node, 4);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    dense = dense && is_dense(&mean, dtype) && is_dense(&rstd, dtype);
    return dense ? EMBER_OK : EMBER_UNSUPPORTED;
}
