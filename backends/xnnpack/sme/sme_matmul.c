// SPDX-License-Identifier: Apache-2.0
// Batched matrix products by outer products, for kernels batch_matrix_multiply_*_sme.
#include "backends/xnnpack/nodes/batch_matmul.h"
#include "sme_nodes.h"

// Matrices of a value: steps of the dimensions that are not broadcast. Returns their
// number.
static uint32_t steps_of(const ember_xnn_value_t *value,
                         uint32_t steps[XNN_SME_BATCH_DIMS]) {
    uint32_t count = 1;
    for (uint32_t i = 0; i < XNN_SME_BATCH_DIMS; i++) {
        const uint32_t own = (uint32_t)xnn_size(value, i + 2);
        steps[i] = own != 1 ? count : 0;
        count *= own;
    }
    return count;
}

static ember_xnn_sme_t begin(const ember_xnn_node_t *node, ember_xnn_sme_kind_t kind,
                             ember_xnn_sme_batch_t *batch) {
    const ember_xnn_value_t *a = node->in[0];
    const ember_xnn_value_t *b = node->in[1];
    const ember_xnn_value_t *out = node->out[0];
    ember_xnn_sme_t gemm = {
        .kind = kind,
        .m = (uint32_t)xnn_size(out, 1),
        .k = (uint32_t)xnn_size(a, 0),
        .n = (uint32_t)xnn_size(out, 0),
        .a = a->constant,
        .y = out->data,
        .real = {.low = node->low, .high = node->high},
        .batch = batch,
    };
    *batch = (ember_xnn_sme_batch_t){
        .b = b->constant,
        .turned = (node->flags & FLAG_TRANSPOSE_WEIGHTS) != 0,
        .count = 1,
    };
    const uint32_t of_a = steps_of(a, batch->a_steps);
    const uint32_t of_b = steps_of(b, batch->b_steps);
    for (uint32_t i = 0; i < XNN_SME_BATCH_DIMS; i++) {
        batch->sizes[i] = (uint32_t)xnn_size(out, i + 2);
        batch->count *= batch->sizes[i];
    }
    if (of_b == 1 && of_a == batch->count) { // one matrix for all rows
        gemm.m *= batch->count;
        batch->count = 1;
    }
    return gemm;
}

static uint64_t scratch_of(const ember_xnn_sme_t *gemm) {
    return xnn_sme_columns_bytes(gemm->kind, gemm->k, gemm->n) +
           ember_xnn_sme_scratch(gemm->kind, gemm->m, gemm->k, false);
}

ember_status_t ember_xnn_sme_matmul_shape(ember_xnn_graph_t *graph,
                                          ember_xnn_node_t *node,
                                          ember_xnn_sme_kind_t kind) {
    const ember_status_t status = ember_xnn_matmul_shape(graph, node);
    if (status != EMBER_OK || !graph->placed) {
        return status;
    }
    ember_xnn_sme_batch_t batch;
    const ember_xnn_sme_t gemm = begin(node, kind, &batch);
    return scratch_of(&gemm) <= node->scratch ? EMBER_OK : ember_xnn_bad_shape(graph);
}

ember_status_t ember_xnn_sme_matmul_prepare(ember_xnn_graph_t *graph,
                                            ember_xnn_node_t *node,
                                            const ember_xnn_type_t *type,
                                            ember_xnn_sme_kind_t kind) {
    const ember_status_t status = ember_xnn_matmul_prepare(graph, node, type);
    if (status != EMBER_OK) {
        return status;
    }
    ember_xnn_sme_batch_t batch;
    const ember_xnn_sme_t gemm = begin(node, kind, &batch);
    const uint64_t scratch = scratch_of(&gemm);
    if (scratch > INT32_MAX / 2) {
        return EMBER_UNSUPPORTED;
    }
    node->scratch = (uint32_t)scratch;
    return EMBER_OK;
}

void ember_xnn_sme_matmul_run(const ember_xnn_graph_t *graph,
                              const ember_xnn_node_t *node, ember_xnn_sme_kind_t kind) {
    ember_xnn_sme_batch_t batch;
    ember_xnn_sme_t gemm = begin(node, kind, &batch);
    gemm.scratch = graph->work;
    if (node->out[0]->numel > 0) {
        ember_xnn_sme_gemm(&gemm);
    }
}
