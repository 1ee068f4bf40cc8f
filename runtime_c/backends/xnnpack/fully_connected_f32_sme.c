// SPDX-License-Identifier: Apache-2.0
// Fully connected, float32, by outer products.
#include "packing.h"
#include "product.h"
#include "sme.h"

// (n, k) to blocks of columns, see sme.h.
static void pack(const ember_xnn_geometry_t *geometry, const void *weights,
                 const void *scales, void *packed) {
    const float *from = weights;
    float *to = packed;
    const uint32_t n = geometry->n;
    const uint32_t k = geometry->k;
    (void)scales;
    for (uint32_t first = 0; first < n; first += geometry->unit) {
        const uint32_t left = n - first;
        const uint32_t width = left < geometry->unit ? left : geometry->unit;
        for (uint32_t i = 0; i < k; i++) {
            for (uint32_t j = 0; j < width; j++) {
                *to++ = from[(size_t)(first + j) * k + i];
            }
        }
    }
}

static uint64_t size(const ember_xnn_geometry_t *geometry) {
    return sizeof(float) * (uint64_t)geometry->n * geometry->k;
}

static const ember_xnn_layout_t layout = {"f32_columns", size, pack, false};

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_xnn_value_t *weights = node->in[1];
    const ember_xnn_geometry_t geometry = {.groups = 1,
                                           .n = (uint32_t)weights->sizes[0],
                                           .taps = 1,
                                           .k = (uint32_t)weights->sizes[1],
                                           .unit = ember_xnn_sme_columns_f32()};
    if (node->flags != 0 || geometry.n == 0) {
        return EMBER_UNSUPPORTED;
    }
    ember_status_t status = ember_xnn_linear_prepare(graph, node, &ember_xnn_type_f32);
    if (status == EMBER_OK) {
        status = ember_xnn_pack(graph, node, &layout, &geometry);
    }
    const uint32_t rows = node->out[0]->numel / geometry.n;
    node->scratch = 4 * geometry.k * (rows < XNN_SME_ROWS ? rows : XNN_SME_ROWS);
    return status;
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

XNN_KERNEL_FOR(EMBER_CPU_SME, fully_connected_f32_sme, "pf32_gemm",
               ember_xnn_linear_shape, XNN_KIND(FULLY_CONNECTED));
