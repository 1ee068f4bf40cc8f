// SPDX-License-Identifier: Apache-2.0
// Fully connected layers: input (..., k), weights (n, k), or (k, n) with a flag, bias
// (n,), output (..., n). Weights of a former convolution are (n, 1, 1, k).
#include "product.h"

static bool transposed(const ember_xnn_node_t *node) {
    return (node->flags & FLAG_TRANSPOSE_WEIGHTS) != 0;
}

static uint32_t columns_of(const ember_xnn_node_t *node) {
    return (uint32_t)node->in[1]->sizes[transposed(node) ? 1 : 0];
}

static bool is_matrix(const ember_xnn_node_t *node) {
    const ember_xnn_value_t *weights = node->in[1];
    return weights->rank == 2 || (weights->rank == 4 && !transposed(node) &&
                                  weights->sizes[1] == 1 && weights->sizes[2] == 1);
}

ember_status_t ember_xnn_linear_shape(ember_xnn_graph_t *graph,
                                      ember_xnn_node_t *node) {
    const ember_xnn_value_t *input = node->in[0];
    const ember_xnn_value_t *weights = node->in[1];
    int32_t sizes[XNN_MOST_DIMS];
    if (input->rank < 1 || !is_matrix(node) || xnn_size(input, 0) < 1 ||
        xnn_size(input, 0) != xnn_size(weights, transposed(node)) ||
        !xnn_bias_fits(node->in[2], columns_of(node))) {
        return ember_xnn_bad_shape(graph);
    }
    memcpy(sizes, input->sizes, sizeof(sizes));
    sizes[input->rank - 1] = (int32_t)columns_of(node);
    return ember_xnn_resize(graph, node->out[0], input->rank, sizes)
               ? EMBER_OK
               : ember_xnn_bad_shape(graph);
}

ember_status_t ember_xnn_linear_prepare(ember_xnn_graph_t *graph,
                                        ember_xnn_node_t *node,
                                        const ember_xnn_type_t *type) {
    if ((node->flags & ~(uint32_t)FLAG_TRANSPOSE_WEIGHTS) != 0) {
        return EMBER_UNSUPPORTED;
    }
    const ember_xnn_value_t *input = node->in[0];
    const ember_xnn_value_t *weights = node->in[1];
    if ((input->datatype == XNN_QDS8 && input->group != 1) || // parameters per row
        (weights->datatype == XNN_QCS8 && weights->group != transposed(node))) {
        return EMBER_UNSUPPORTED;
    }
    return type->check(graph, node);
}

// Elements from one column of k weights to the next.
static uint32_t column_step(const ember_xnn_value_t *weights, uint32_t k) {
    return weights->datatype == XNN_QCS4 ? xnn_column_s4(k) : k;
}

void ember_xnn_linear_run(const ember_xnn_node_t *node, const ember_xnn_type_t *type) {
    ember_xnn_product_t product;
    ember_xnn_product_begin(&product, type, node);
    const uint32_t n = columns_of(node);
    const uint32_t k = (uint32_t)xnn_size(node->in[0], 0);
    const uint32_t rows = n > 0 ? node->out[0]->numel / n : 0;
    product.k_step = transposed(node) ? n : 1;
    product.n_step = transposed(node) ? 1 : column_step(node->in[1], k);
    for (; product.row < rows; product.row++) {
        for (product.column = 0; product.column < n; product.column += XNN_COLUMNS) {
            const uint32_t left = n - product.column;
            product.columns = left < XNN_COLUMNS ? left : XNN_COLUMNS;
            type->begin(&product);
            xnn_product_add(&product, (size_t)product.row * k,
                            (size_t)product.column * product.n_step, k);
            type->end(&product, (size_t)product.row * n + product.column);
        }
    }
}
