// SPDX-License-Identifier: Apache-2.0
// Fully connected, float32, by outer products. Weights are packed while the delegate
// starts.
#include "product.h"
#include "sme.h"

// (n, k) to blocks of columns, see sme.h.
static void pack(const float *from, uint32_t n, uint32_t k, float *to) {
    const uint32_t most = ember_xnn_sme_columns_f32();
    for (uint32_t first = 0; first < n; first += most) {
        const uint32_t width = n - first < most ? n - first : most;
        for (uint32_t i = 0; i < k; i++) {
            for (uint32_t j = 0; j < width; j++) {
                *to++ = from[(size_t)(first + j) * k + i];
            }
        }
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_xnn_value_t *weights = node->in[1];
    const uint32_t n = (uint32_t)weights->sizes[0];
    const uint32_t k = (uint32_t)weights->sizes[1];
    if (weights->place != XNN_CONSTANT || node->flags != 0 || n == 0) {
        return EMBER_UNSUPPORTED;
    }
    const ember_status_t status =
        ember_xnn_linear_prepare(graph, node, &ember_xnn_type_f32);
    if (status != EMBER_OK) {
        return status;
    }
    float *packed = ember_arena_alloc(graph->info->arena, weights->bytes, EMBER_ALIGN);
    if (packed == NULL) {
        return EMBER_NO_MEMORY;
    }
    pack(weights->constant, n, k, packed);
    node->packed = packed;
    const uint32_t rows = node->out[0]->numel / n;
    node->scratch = 4 * k * (rows < XNN_SME_ROWS ? rows : XNN_SME_ROWS);
    return EMBER_OK;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    const ember_xnn_value_t *bias = node->in[2];
    const ember_xnn_sme_f32_t gemm = {
        .a = node->in[0]->constant,
        .w = node->packed,
        .bias = bias != NULL ? bias->constant : NULL,
        .y = node->out[0]->data,
        .scratch = (float *)(void *)graph->work,
        .m = node->out[0]->numel / (uint32_t)node->in[1]->sizes[0],
        .k = (uint32_t)node->in[1]->sizes[1],
        .n = (uint32_t)node->in[1]->sizes[0],
        .low = node->low,
        .high = node->high,
    };
    ember_xnn_gemm_f32_sme(&gemm);
}

XNN_KERNEL(fully_connected_f32_sme, "pf32_gemm", ember_xnn_linear_shape,
           XNN_KIND(FULLY_CONNECTED));
