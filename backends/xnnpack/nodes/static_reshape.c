// SPDX-License-Identifier: Apache-2.0
// The same elements in another shape; a new size of 0 is inferred.
#include "move.h"

static ember_status_t shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_xnn_value_t *input = node->in[0];
    const uint32_t rank = node->params[0];
    int32_t sizes[XNN_MOST_DIMS];
    int32_t *open = NULL;
    uint64_t known = 1;
    if (node->kind == XNN_COPY) {
        return ember_xnn_shape_same(graph, node);
    }
    if (rank > XNN_MOST_DIMS || !ember_xnn_items(node, 0, rank, sizes)) {
        return ember_xnn_bad_shape(graph);
    }
    for (uint32_t i = 0; i < rank; i++) {
        if (sizes[i] == 0 && open == NULL) {
            open = &sizes[i];
        } else if (known <= INT32_MAX) {
            known *= (uint32_t)sizes[i];
        }
    }
    if (open != NULL && known != 0) {
        *open = (int32_t)(input->numel / known);
    }
    return ember_xnn_resize(graph, node->out[0], rank, sizes) &&
                   node->out[0]->numel == input->numel
               ? EMBER_OK
               : ember_xnn_bad_shape(graph);
}

// The output becomes a view of the input, which then lives as long: nodes write only
// their outputs.
static void look_through(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_value_t *out = node->out[0];
    ember_xnn_value_t *source = node->in[0];
    if (source->place == XNN_VIEW) {
        source = &graph->values[source->argument];
    }
    out->place = XNN_VIEW;
    out->argument = (uint32_t)(source - graph->values);
    source->last = source->last > out->last ? source->last : out->last;
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    if (!ember_xnn_same_elements(node, 0)) {
        return EMBER_UNSUPPORTED;
    }
    if (node->out[0]->place == XNN_INTERNAL && node->in[0]->place != XNN_CONSTANT) {
        look_through(graph, node);
    }
    return EMBER_OK;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    const ember_xnn_value_t *out = node->out[0];
    (void)graph;
    if (out->place != XNN_VIEW) {
        ember_xnn_copy(out->data, node->in[0]->data, out->bytes);
    }
}

XNN_KERNEL(static_reshape, NULL, shape, XNN_KIND(STATIC_RESHAPE) | XNN_KIND(COPY));
