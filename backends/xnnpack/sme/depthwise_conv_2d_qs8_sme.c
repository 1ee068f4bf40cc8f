// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution, static int8, three by three, in streaming mode.
#include "backends/xnnpack/graph/packing.h"
#include "backends/xnnpack/nodes/depthwise.h"
#include "backends/xnnpack/panel/panel.h"
#include "depthwise.h"
#include "sme_nodes.h"

// --- weights: as in sme/depthwise.h, then sums of the channels' weights --------------

// Channels of a list.
static uint32_t listed(const ember_xnn_geometry_t *geometry) {
    return geometry->n + geometry->unit;
}

static uint64_t size(const ember_xnn_geometry_t *geometry) {
    return 4 * (uint64_t)(XNN_SME_SIDE + 1) * listed(geometry);
}

static void pack(const ember_xnn_geometry_t *geometry, const void *weights,
                 const void *scales, void *packed) {
    const uint32_t n = geometry->n;
    const int8_t *from = weights;
    int8_t *to = packed;
    (void)scales;
    for (uint32_t x = 0; x < XNN_SME_SIDE; x++) {
        for (uint32_t i = 0; i < listed(geometry); i++, to += 4) {
            for (uint32_t y = 0; y < XNN_SME_SIDE; y++) {
                to[y] = from[(size_t)(y * XNN_SME_SIDE + x) * n + i % n];
            }
            to[XNN_SME_SIDE] = 0;
        }
    }
    for (uint32_t i = 0; i < listed(geometry); i++, to += 4) {
        int32_t sum = 0;
        for (uint32_t k = 0; k < XNN_SME_SIDE * XNN_SME_SIDE; k++) {
            sum += from[(size_t)k * n + i % n];
        }
        memcpy(to, &sum, 4);
    }
}

static const ember_xnn_layout_t layout = {"depthwise_s8_lists", size, pack, false};

static ember_xnn_geometry_t geometry_of(const ember_xnn_node_t *node) {
    return (ember_xnn_geometry_t){.groups = 1,
                                  .n = node->params[CONV_GROUPS],
                                  .taps = XNN_SME_SIDE * XNN_SME_SIDE,
                                  .k = 1,
                                  .unit = ember_xnn_sme_vector()};
}

// --- init ----------------------------------------------------------------------------

static bool fits(const ember_xnn_node_t *node) {
    const uint32_t *params = node->params;
    return params[CONV_GROUP_OUTPUTS] == 1 && params[CONV_KERNEL] == XNN_SME_SIDE &&
           params[CONV_KERNEL + 1] == XNN_SME_SIDE && params[CONV_STRIDE] <= 2 &&
           params[CONV_STRIDE + 1] <= 2 && params[CONV_DILATION] == 1 &&
           params[CONV_DILATION + 1] == 1;
}

// Lists of two values for each channel, and rows.
static uint64_t scratch_of(const ember_xnn_node_t *node,
                           const ember_xnn_window_t *window) {
    const ember_xnn_geometry_t geometry = geometry_of(node);
    return 8 * (uint64_t)listed(&geometry) + (XNN_SME_SIDE + 1) * xnn_sme_line(window);
}

// With another width, rows may take more scratch than there is.
static ember_status_t shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_status_t status = ember_xnn_depthwise_shape(graph, node);
    ember_xnn_window_t window;
    return status == EMBER_OK && graph->placed &&
                   ember_xnn_window_read(node, &window) &&
                   scratch_of(node, &window) > node->scratch
               ? ember_xnn_bad_shape(graph)
               : status;
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    ember_xnn_window_t window;
    if (!xnn_types(node, XNN_QS8, XNN_QS8)) {
        return EMBER_UNSUPPORTED;
    }
    if (!xnn_sme_takes_s8()) {
        return xnn_refuse(node, XNN_SHORT_VECTORS);
    }
    if (!fits(node) || !ember_xnn_window_read(node, &window)) {
        return xnn_refuse(node, XNN_OTHER_WINDOW);
    }
    const ember_status_t status =
        ember_xnn_depthwise_prepare(graph, node, &ember_xnn_panel_qs8);
    if (status != EMBER_OK) {
        return status;
    }
    const uint64_t scratch = scratch_of(node, &window);
    if (scratch > INT32_MAX / 4) {
        return EMBER_UNSUPPORTED;
    }
    node->scratch = (uint32_t)scratch;
    const ember_xnn_geometry_t geometry = geometry_of(node);
    return ember_xnn_pack(graph, node, &layout, &geometry);
}

// --- execute -------------------------------------------------------------------------

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    const ember_xnn_geometry_t geometry = geometry_of(node);
    const uint32_t most = listed(&geometry);
    const int8_t *w = node->packed;
    const int32_t *sums =
        (const int32_t *)(const void *)(w + 4 * XNN_SME_SIDE * (size_t)most);
    int32_t *start = (int32_t *)(void *)graph->work;
    float *scales = (float *)(void *)(start + most);
    const ember_xnn_sme_static_t columns = ember_xnn_sme_static_of(node);
    ember_xnn_window_t window;
    (void)!ember_xnn_window_read(node, &window);
    const ember_xnn_sme_depthwise_t job = {
        .window = &window,
        .x = node->in[0]->constant,
        .y = node->out[0]->data,
        .w = w,
        .sums = sums,
        .start = start,
        .scales = scales,
        .columns = &columns,
        .zero = (int8_t)node->in[0]->zero,
        .scratch = (int8_t *)(scales + most),
    };
    ember_xnn_sme_depthwise(&job);
}

XNN_KERNEL_FOR(EMBER_CPU_SME, depthwise_conv_2d_qs8_sme, NULL, shape,
               XNN_KIND(DEPTHWISE_CONV_2D));
