// SPDX-License-Identifier: Apache-2.0
// Turns a payload into a graph that can run: kernels, shapes, places in scratch.
#include "graph.h"

#include "payload.h"

enum { QDS8_PARAMS = 8 }; // bytes per row: scale and zero point (ember_xnn_row_t)

ember_status_t ember_xnn_bad(const ember_xnn_graph_t *graph) {
    return ember_fail(graph->info->error, EMBER_BACKEND,
                      "xnnpack: the payload contradicts itself");
}

ember_status_t ember_xnn_bad_shape(const ember_xnn_graph_t *graph) {
    if (graph->info == NULL) {
        return EMBER_BACKEND; // in execute; execute reports it
    }
    return ember_fail(graph->info->error, EMBER_BACKEND,
                      "xnnpack: sizes of a node do not fit");
}

// Bytes of `numel` elements in rows of `sizes`.
static uint64_t bytes_of(const ember_xnn_value_t *value, uint64_t numel,
                         const int32_t *sizes) {
    const uint32_t size = ember_xnn_element_size(value->datatype);
    if (size == 0) { // each row begins with a byte
        const uint64_t line = value->rank > 0 ? (uint64_t)sizes[value->rank - 1] : 1;
        return line == 0 ? 0 : numel / line * ((line + 1) / 2);
    }
    if (value->datatype == XNN_QDS8) {
        uint64_t rows = 1;
        for (uint32_t i = 0; i + value->group < value->rank; i++) {
            rows *= (uint64_t)sizes[i];
        }
        return ((numel + 7) & ~UINT64_C(7)) + rows * QDS8_PARAMS;
    }
    return numel * size;
}

bool ember_xnn_resize(const ember_xnn_graph_t *graph, ember_xnn_value_t *value,
                      uint32_t rank, const int32_t *sizes) {
    uint64_t numel = 1;
    if (rank > XNN_MOST_DIMS) {
        return false;
    }
    // Ignoring zeros, so that no part of the product exceeds 2^31.
    uint64_t most = 1;
    for (uint32_t i = 0; i < rank; i++) {
        most *= sizes[i] > 0 ? (uint64_t)sizes[i] : 1;
        numel *= (uint64_t)sizes[i];
        if (sizes[i] < 0 || most > INT32_MAX / 8) {
            return false;
        }
        value->sizes[i] = sizes[i];
    }
    value->rank = (uint8_t)rank;
    value->numel = (uint32_t)numel;
    const uint64_t bytes = bytes_of(value, numel, sizes);
    value->bytes = (uint32_t)bytes;
    return bytes <= INT32_MAX / 2 &&
           (!graph->placed || value->place != XNN_INTERNAL || bytes <= value->capacity);
}

ember_status_t ember_xnn_shape_same(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_resize(graph, node->out[0], node->in[0]->rank, node->in[0]->sizes)
               ? EMBER_OK
               : ember_xnn_bad_shape(graph);
}

ember_status_t ember_xnn_parse(ember_xnn_graph_t *graph) {
    ember_xnn_payload_t payload = {.graph = graph};
    ember_status_t status = ember_xnn_open(&payload);
    if (status == EMBER_OK) {
        status = ember_xnn_read_values(&payload);
    }
    if (status == EMBER_OK) {
        status = ember_xnn_read_nodes(&payload);
    }
    if (status == EMBER_OK) {
        ember_xnn_split_pixels(graph);
    }
    return status == EMBER_BAD_PROGRAM ? ember_xnn_bad(graph) : status;
}

// Whether data was left out because a kernel reads it packed.
static bool is_left_out(const ember_xnn_value_t *value) {
    return value->place == XNN_CONSTANT &&
           ((value->constant == NULL && value->numel > 0) ||
            (value->scales_key != 0 && value->scales == NULL));
}

static ember_status_t check_constants(const ember_xnn_graph_t *graph,
                                      const ember_xnn_node_t *node) {
    for (uint32_t i = 0; i < node->inputs; i++) {
        if (node->in[i] != NULL && is_left_out(node->in[i]) &&
            (i != 1 || node->packed == NULL)) {
            return ember_fail(graph->info->error, EMBER_BACKEND,
                              "xnnpack: a constant is missing");
        }
    }
    return EMBER_OK;
}

// Firmware may have no other kernel, nor weights for one. `lacking`: the core lacks
// instructions of some kernel.
static ember_status_t not_taken(const ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                bool lacking) {
    node->packed = NULL;
    if (lacking) {
        return ember_fail(graph->info->error, EMBER_UNSUPPORTED,
                          "xnnpack: built for a core with more instruction sets");
    }
    if ((node->refusals & XNN_SHORT_VECTORS) != 0) {
        return ember_fail(graph->info->error, EMBER_UNSUPPORTED,
                          "xnnpack: built for a core with longer vectors");
    }
    if (check_constants(graph, node) != EMBER_OK) {
        return EMBER_BACKEND;
    }
    return ember_fail(graph->info->error, EMBER_UNSUPPORTED,
                      "xnnpack: no kernel supports a node of the delegate");
}

static ember_status_t choose(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_xnnpack_kernel_t *const *kernel = ember_xnnpack_kernels;
    const size_t used = graph->info->arena->used;
    bool lacking = false;
    node->refusals = 0;
    for (; *kernel != NULL; kernel++) {
        if (((*kernel)->kinds >> node->kind & 1) == 0) {
            continue;
        }
        if (((*kernel)->needs & ~graph->cpu) != 0) {
            lacking = true;
            continue;
        }
        node->kernel = *kernel;
        node->scratch = 0;
        node->packed = NULL;
        graph->info->arena->used = used;
        ember_status_t status = (*kernel)->shape(graph, node);
        if (status == EMBER_OK) {
            status = (*kernel)->prepare(graph, node);
        }
        if (status != EMBER_UNSUPPORTED) {
            return status == EMBER_OK ? check_constants(graph, node) : status;
        }
    }
    return not_taken(graph, node, lacking);
}

ember_status_t ember_xnn_choose(ember_xnn_graph_t *graph) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const ember_status_t status = choose(graph, &graph->nodes[i]);
        if (status != EMBER_OK) {
            return status;
        }
    }
    graph->most = ember_xnn_bound(graph);
    ember_delegate_work(graph->info, graph->most);
    return EMBER_OK;
}

ember_status_t ember_xnn_infer(ember_xnn_graph_t *graph) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const ember_status_t status =
            graph->nodes[i].kernel->shape(graph, &graph->nodes[i]);
        if (status != EMBER_OK) {
            return status;
        }
    }
    // Arguments may be larger than the graph states; that work is not charged.
    return ember_xnn_bound(graph) <= graph->most ? EMBER_OK : EMBER_BACKEND;
}
