// SPDX-License-Identifier: Apache-2.0
// An output of a node, as a tensor for hooks.
#include "graph.h"

static const uint8_t order[XNN_MOST_DIMS] = {0, 1, 2, 3, 4, 5};

// Types of PyTorch as they are; all others as bytes, parameters included.
static uint32_t dtype_of(const ember_xnn_value_t *value) {
    switch (value->datatype) {
    case XNN_F32:
        return EMBER_F32;
    case XNN_F16:
        return EMBER_F16;
    case XNN_BF16:
        return EMBER_BF16;
    case XNN_QS8:
        return EMBER_S8;
    case XNN_S32:
        return EMBER_S32;
    default:
        return EMBER_U8;
    }
}

static void trace(const ember_xnn_value_t *value, uint32_t node, uint32_t output,
                  const ember_delegate_tracer_t *tracer) {
    const uint32_t dtype = dtype_of(value);
    const int32_t bytes = (int32_t)value->bytes;
    const bool raw = dtype == EMBER_U8;
    const ember_tensor_t tensor = {
        .data = value->data,
        .sizes = raw ? &bytes : value->sizes,
        .dim_order = order,
        .numel = raw ? value->bytes : value->numel,
        .dtype = (uint8_t)dtype,
        .rank = raw ? 1 : value->rank,
        .element_size = (uint8_t)ember_dtype_size(dtype),
    };
    tracer->output(tracer->context, node, output, &tensor);
}

static void trace_outputs(const ember_xnn_graph_t *graph, uint32_t node,
                          const ember_delegate_tracer_t *tracer) {
    for (uint32_t i = 0; i < XNN_MOST_OUTPUTS; i++) {
        const ember_xnn_value_t *value = graph->nodes[node].out[i];
        if (value != NULL && value->place != XNN_VIEW && value->data != NULL) {
            trace(value, node, i, tracer);
        }
    }
}

void ember_xnn_run_traced(ember_xnn_graph_t *graph, uint32_t node,
                          const ember_delegate_tracer_t *tracer) {
    if (tracer->begin != NULL) {
        tracer->begin(tracer->context, node);
    }
    graph->nodes[node].kernel->run(graph, &graph->nodes[node]);
    if (tracer->end != NULL) {
        tracer->end(tracer->context, node);
    }
    if (tracer->output != NULL) {
        trace_outputs(graph, node, tracer);
    }
}
