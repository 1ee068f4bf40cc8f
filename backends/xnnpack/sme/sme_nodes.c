// SPDX-License-Identifier: Apache-2.0
#include "sme_nodes.h"

static ember_status_t check_qs8(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    return ember_xnn_qs8_fits(node, (uint32_t)xnn_size(node->out[0], 0))
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

const ember_xnn_type_t ember_xnn_sme_qs8 = {.check = check_qs8};

// --- what all of them have -----------------------------------------------------------

ember_xnn_sme_static_t ember_xnn_sme_static_of(const ember_xnn_node_t *node) {
    const ember_xnn_value_t *weights = node->in[1];
    ember_xnn_sme_static_t fixed = {
        .bias = node->in[2] != NULL ? node->in[2]->constant : NULL,
        .scales = weights->datatype == XNN_QCS8 ? weights->scales : NULL,
        .scale = weights->scale,
        .in_scale = node->in[0]->scale,
        .out_scale = node->out[0]->scale,
        .in_zero = node->in[0]->zero,
    };
    (void)ember_xnn_range(node, &fixed.range);
    return fixed;
}

static ember_xnn_sme_real_t real_of(const ember_xnn_node_t *node) {
    const ember_xnn_value_t *bias = node->in[2];
    return (ember_xnn_sme_real_t){
        .bias = bias != NULL ? bias->constant : NULL,
        .low = node->low,
        .high = node->high,
        .half_bias = bias != NULL && bias->datatype == XNN_F16,
    };
}

// `row_step`: rows of the output that share parameters. `window`: NULL if the rows of
// the input are those of the product.
static ember_xnn_sme_t begin(const ember_xnn_graph_t *graph,
                             const ember_xnn_node_t *node, ember_xnn_sme_kind_t kind,
                             const ember_xnn_window_t *window, uint32_t row_step,
                             ember_xnn_sme_few_t *few) {
    const ember_xnn_value_t *out = node->out[0];
    ember_xnn_sme_t gemm = {
        .kind = kind,
        .k = ember_xnn_sme_products(node),
        .n = (uint32_t)xnn_size(out, 0),
        .a = node->in[0]->constant,
        .w = node->packed,
        .window = window,
        .y = out->data,
        .scratch = graph->work,
    };
    gemm.m = out->numel / gemm.n;
    if (kind == XNN_SME_QS8) {
        gemm.fixed = ember_xnn_sme_static_of(node);
        gemm.few = ember_xnn_sme_few(window, gemm.k, gemm.n, few) ? few : NULL;
        return gemm;
    }
    gemm.real = real_of(node);
    if (xnn_sme_has_sums(kind)) {
        gemm.dynamic = (ember_xnn_sme_dynamic_t){
            .rows = xnn_rows(node->in[0]),
            .row_step = row_step,
            .scales = node->in[1]->scales,
            .block = node->in[1]->group,
            .half_out = out->datatype == XNN_F16,
        };
    }
    return gemm;
}

// --- fully connected layers ----------------------------------------------------------

// Rows to float16, more than one.
static bool is_half(const ember_xnn_node_t *node) {
    const ember_xnn_value_t *out = node->out[0];
    return out->datatype == XNN_F16 && out->numel > (uint32_t)xnn_size(out, 0);
}

ember_status_t ember_xnn_sme_linear_prepare(ember_xnn_graph_t *graph,
                                            ember_xnn_node_t *node,
                                            const ember_xnn_type_t *type,
                                            ember_xnn_sme_kind_t kind) {
    const ember_status_t status = ember_xnn_linear_prepare(graph, node, type);
    const bool left = kind == XNN_SME_QS8 || (kind == XNN_SME_QD8_B4 && is_half(node));
    if (status == EMBER_OK && left && !xnn_sme_takes_s8()) {
        return xnn_refuse(node, XNN_SHORT_VECTORS);
    }
    return status == EMBER_OK ? ember_xnn_sme_pack(graph, node, kind, NULL) : status;
}

void ember_xnn_sme_linear_run(const ember_xnn_graph_t *graph,
                              const ember_xnn_node_t *node, ember_xnn_sme_kind_t kind) {
    ember_xnn_sme_few_t few;
    const ember_xnn_sme_t gemm = begin(graph, node, kind, NULL, 1, &few);
    ember_xnn_sme_gemm(&gemm);
}

// --- convolutions --------------------------------------------------------------------

// Whether the pixels of the input are the rows.
static bool is_plain(const ember_xnn_node_t *node) {
    const uint32_t *params = node->params;
    return params[CONV_KERNEL] == 1 && params[CONV_KERNEL + 1] == 1 &&
           params[CONV_STRIDE] == 1 && params[CONV_STRIDE + 1] == 1 &&
           (params[CONV_PADDING] | params[CONV_PADDING + 1] | params[CONV_PADDING + 2] |
            params[CONV_PADDING + 3]) == 0;
}

// NULL: not needed. Reading cannot fail once it was checked.
static const ember_xnn_window_t *window_of(const ember_xnn_node_t *node,
                                           ember_xnn_window_t *window) {
    (void)!ember_xnn_window_read(node, window);
    return is_plain(node) ? NULL : window;
}

// With another width, rows may take more scratch than there is.
ember_status_t ember_xnn_sme_conv_shape(ember_xnn_graph_t *graph,
                                        ember_xnn_node_t *node) {
    const ember_status_t status = ember_xnn_conv_shape(graph, node);
    ember_xnn_window_t room;
    if (status != EMBER_OK || !graph->placed) {
        return status;
    }
    const uint32_t n = (uint32_t)xnn_size(node->out[0], 0);
    const uint32_t k = ember_xnn_sme_products(node);
    ember_xnn_sme_few_t few;
    return ember_xnn_sme_few(window_of(node, &room), k, n, &few) &&
                   ember_xnn_sme_few_scratch(&few, n) > node->scratch
               ? ember_xnn_bad_shape(graph)
               : EMBER_OK;
}

ember_status_t ember_xnn_sme_conv_prepare(ember_xnn_graph_t *graph,
                                          ember_xnn_node_t *node,
                                          const ember_xnn_type_t *type,
                                          ember_xnn_sme_kind_t kind) {
    ember_xnn_window_t window;
    const ember_status_t status = ember_xnn_conv_prepare(graph, node, type);
    if (status != EMBER_OK) {
        return status;
    }
    if (xnn_sme_has_sums(kind) && !xnn_sme_takes_s8()) {
        return xnn_refuse(node, XNN_SHORT_VECTORS);
    }
    return node->params[CONV_GROUPS] == 1
               ? ember_xnn_sme_pack(graph, node, kind, window_of(node, &window))
               : xnn_refuse(node, XNN_HAS_GROUPS);
}

void ember_xnn_sme_conv_run(const ember_xnn_graph_t *graph,
                            const ember_xnn_node_t *node, ember_xnn_sme_kind_t kind) {
    ember_xnn_window_t room;
    const ember_xnn_window_t *window = window_of(node, &room);
    const uint32_t pixels = (uint32_t)room.y.out * (uint32_t)room.x.out;
    ember_xnn_sme_few_t few;
    const ember_xnn_sme_t gemm = begin(graph, node, kind, window, pixels, &few);
    ember_xnn_sme_gemm(&gemm);
}
