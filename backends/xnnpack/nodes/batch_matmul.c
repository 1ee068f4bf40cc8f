// SPDX-License-Identifier: Apache-2.0
// Batched matrix products: (..., m, k) by (..., k, n), or (..., n, k) with a flag;
// batch dimensions are broadcast.
#include "batch_matmul.h"

static bool transposed(const ember_xnn_node_t *node) {
    return (node->flags & FLAG_TRANSPOSE_WEIGHTS) != 0;
}

ember_status_t ember_xnn_matmul_shape(ember_xnn_graph_t *graph,
                                      ember_xnn_node_t *node) {
    const ember_xnn_value_t *a = node->in[0];
    const ember_xnn_value_t *b = node->in[1];
    const uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
    int32_t sizes[XNN_MOST_DIMS];
    if (a->rank < 2 || b->rank < 2 ||
        xnn_size(a, 0) != xnn_size(b, !transposed(node))) {
        return ember_xnn_bad_shape(graph);
    }
    for (uint32_t i = 2; i < rank; i++) {
        const int32_t one = xnn_size(a, i);
        const int32_t other = xnn_size(b, i);
        if (one != other && one != 1 && other != 1) {
            return ember_xnn_bad_shape(graph);
        }
        sizes[rank - 1 - i] = one != 1 ? one : other;
    }
    sizes[rank - 2] = xnn_size(a, 1);
    sizes[rank - 1] = xnn_size(b, transposed(node));
    return ember_xnn_resize(graph, node->out[0], rank, sizes)
               ? EMBER_OK
               : ember_xnn_bad_shape(graph);
}

ember_status_t ember_xnn_matmul_prepare(ember_xnn_graph_t *graph,
                                        ember_xnn_node_t *node,
                                        const ember_xnn_type_t *type) {
    if ((node->flags & ~(uint32_t)FLAG_TRANSPOSE_WEIGHTS) != 0) {
        return EMBER_UNSUPPORTED;
    }
    return type->check(graph, node);
}

size_t ember_xnn_matrix_of(const ember_xnn_value_t *value, const ember_xnn_value_t *out,
                           size_t index) {
    size_t found = 0;
    size_t step = 1;
    for (uint32_t i = 2; i < out->rank; i++) {
        const uint32_t size = (uint32_t)xnn_size(out, i);
        const uint32_t own = (uint32_t)xnn_size(value, i);
        found += own != 1 ? index % size * step : 0;
        step *= own;
        index /= size;
    }
    return found;
}

void ember_xnn_matmul_run(const ember_xnn_node_t *node, const ember_xnn_type_t *type) {
    ember_xnn_product_t product;
    ember_xnn_product_begin(&product, type, node);
    const ember_xnn_value_t *out = node->out[0];
    const uint32_t k = (uint32_t)xnn_size(node->in[0], 0);
    const uint32_t m = (uint32_t)xnn_size(out, 1);
    const uint32_t n = (uint32_t)xnn_size(out, 0);
    product.k_step = transposed(node) ? 1 : n;
    product.n_step = transposed(node) ? k : 1;
    for (size_t y = 0; y < out->numel; y += n) {
        const size_t row = y / n;
        const size_t a =
            (ember_xnn_matrix_of(node->in[0], out, row / m) * m + row % m) * (size_t)k;
        const size_t w = ember_xnn_matrix_of(node->in[1], out, row / m) * k * n;
        for (product.column = 0; product.column < n; product.column += XNN_COLUMNS) {
            const uint32_t left = n - product.column;
            product.columns = left < XNN_COLUMNS ? left : XNN_COLUMNS;
            type->begin(&product);
            xnn_product_add(&product, a, w + (size_t)product.column * product.n_step,
                            k);
            type->end(&product, y + product.column);
        }
    }
}
