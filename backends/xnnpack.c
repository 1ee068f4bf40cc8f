// SPDX-License-Identifier: Apache-2.0
// XnnpackBackend: runs delegates of ExecuTorch's XnnpackPartitioner without XNNPACK.
// Payload: xnnpack/graph/payload.h. Graph in memory: xnnpack/graph/graph.h. Kernels of
// nodes: the backend's list in kernels.yaml.
#include "backends/xnnpack/graph/graph.h"

static ember_status_t make(ember_xnn_graph_t *graph) {
    ember_status_t status = ember_xnn_parse(graph);
    if (status == EMBER_OK) {
        status = ember_xnn_choose(graph);
    }
    if (status == EMBER_OK && !ember_xnn_place(graph)) {
        status = ember_xnn_bad_shape(graph);
    }
    if (status == EMBER_OK) {
        status = ember_delegate_scratch(graph->info, graph->scratch);
    }
    if (!graph->reads_payload) {
        ember_delegate_release(graph->info);
    }
    return status;
}

static ember_status_t init(const ember_delegate_info_t *info, void **handle) {
    ember_xnn_graph_t *graph =
        ember_arena_array(info->arena, 1, sizeof(*graph), EMBER_ALIGN);
    ember_status_t status = EMBER_NO_MEMORY;
    if (graph != NULL) {
        graph->info = info;
        graph->cpu = ember_port_cpu();
        graph->payload = info->blob.data;
        status = make(graph);
        graph->info = NULL;
        graph->current = true;
        *handle = graph;
    }
    return status == EMBER_NO_MEMORY
               ? ember_fail(info->error, status,
                            "xnnpack: the arena is too small for the graph")
               : status;
}

// --- arguments of the call ---------------------------------------------------------

static bool same_datatype(uint32_t datatype, uint32_t dtype) {
    switch (datatype) {
    case XNN_F32:
        return dtype == EMBER_F32;
    case XNN_F16:
        return dtype == EMBER_F16;
    case XNN_BF16:
        return dtype == EMBER_BF16;
    case XNN_QS8:
        return dtype == EMBER_S8;
    default:
        return datatype == XNN_S32 && dtype == EMBER_S32;
    }
}

// In PyTorch, indices are int64.
static bool is_wide(uint32_t datatype, uint32_t dtype) {
    return datatype == XNN_S32 && dtype == EMBER_S64;
}

static void wrong_argument(ember_node_t *call) {
    (void)ember_node_fail(
        call, EMBER_BACKEND,
        "xnnpack: an argument differs from the one the delegate was exported for");
}

// The number of dimensions in which a value's size differs from an argument read in
// `order`.
static uint32_t differences(const ember_tensor_t *tensor,
                            const ember_xnn_value_t *value, const uint8_t *order) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        count += tensor->sizes[order[i]] != value->sizes[i];
    }
    return count;
}

// The sizes of an argument in the order of its value's dimensions: logical or, for
// images, channels last as in memory. An image with one channel or one pixel has both
// orders, whatever it declares; then the order that fits the value is used, or the
// declared one if both fit. Graphs are not lowered for other orders.
static bool read_order(const ember_tensor_t *tensor, const ember_xnn_value_t *value,
                       uint8_t *order) {
    static const uint8_t logical[XNN_MOST_DIMS] = {0, 1, 2, 3, 4, 5};
    static const uint8_t channels_last[] = {0, 2, 3, 1};
    ember_tensor_t alike = *tensor;
    alike.dim_order = channels_last;
    const bool plain = ember_tensor_is_contiguous(tensor);
    bool image = tensor->rank == 4 && value->rank == 4 &&
                 ember_tensor_same_order(tensor, &alike);
    if (image && plain) {
        const uint32_t first = differences(tensor, value, channels_last);
        const uint32_t other = differences(tensor, value, logical);
        image = first != other ? first < other
                               : memcmp(tensor->dim_order, channels_last,
                                        sizeof(channels_last)) == 0;
    }
    memcpy(order, image ? channels_last : logical, image ? 4 : XNN_MOST_DIMS);
    return image || plain;
}

static void take_input(ember_xnn_graph_t *graph, ember_node_t *call,
                       ember_xnn_value_t *value) {
    ember_tensor_t tensor;
    uint8_t order[XNN_MOST_DIMS];
    int32_t sizes[XNN_MOST_DIMS];
    ember_node_tensor(call, value->argument, &tensor);
    if (tensor.rank > XNN_MOST_DIMS || !same_datatype(value->datatype, tensor.dtype) ||
        !read_order(&tensor, value, order)) {
        wrong_argument(call);
        return;
    }
    value->data = tensor.data;
    bool same = tensor.rank == value->rank;
    for (uint32_t i = 0; i < tensor.rank; i++) {
        sizes[i] = tensor.sizes[order[i]];
        same = same && sizes[i] == value->sizes[i];
    }
    if (!same) {
        graph->current = false;
        if (!ember_xnn_resize(graph, value, tensor.rank, sizes)) {
            wrong_argument(call);
        }
    }
}

// A scalar's value may have a dimension of size 1 in the graph.
static void take_output(ember_node_t *call, ember_xnn_value_t *value) {
    ember_tensor_t tensor;
    uint8_t order[XNN_MOST_DIMS];
    int32_t sizes[XNN_MOST_DIMS] = {0};
    ember_node_tensor(call, value->argument, &tensor);
    value->wide = is_wide(value->datatype, tensor.dtype);
    if (!(value->wide || same_datatype(value->datatype, tensor.dtype)) ||
        (tensor.rank != value->rank && tensor.rank + value->numel != 1) ||
        !read_order(&tensor, value, order)) {
        wrong_argument(call);
        return;
    }
    for (uint32_t i = 0; i < tensor.rank; i++) {
        sizes[order[i]] = value->sizes[i];
    }
    ember_node_output(call, value->argument, tensor.rank, sizes, &tensor);
    value->data = tensor.data;
}

static ember_status_t take_arguments(ember_xnn_graph_t *graph, ember_node_t *call) {
    for (uint32_t i = 0; i < graph->value_count; i++) {
        if (graph->values[i].place == XNN_INPUT) {
            take_input(graph, call, &graph->values[i]);
        }
    }
    if (ember_node_status(call) == EMBER_OK && !graph->current) {
        if (ember_xnn_infer(graph) != EMBER_OK) {
            return ember_node_fail(call, EMBER_BACKEND,
                                   "xnnpack: sizes of a node do not fit");
        }
        graph->current = true;
    }
    for (uint32_t i = 0; i < graph->value_count; i++) {
        if (graph->values[i].place == XNN_OUTPUT &&
            ember_node_status(call) == EMBER_OK) {
            take_output(call, &graph->values[i]);
        }
    }
    return ember_node_status(call);
}

// Where the elements of a value are, once arguments have their places.
static void *place_of(const ember_xnn_graph_t *graph, const ember_xnn_value_t *value,
                      uint8_t *scratch) {
    const ember_xnn_value_t *owner =
        value->place == XNN_VIEW ? &graph->values[value->argument] : value;
    return owner->place == XNN_INTERNAL ? scratch + owner->offset : owner->data;
}

// Gives values their places for a call: its arguments, and scratch.
static ember_status_t settle(ember_xnn_graph_t *graph, ember_node_t *call) {
    uint8_t *scratch = ember_node_scratch(call, graph->scratch);
    const ember_status_t status = take_arguments(graph, call);
    for (uint32_t i = 0; status == EMBER_OK && i < graph->value_count; i++) {
        graph->values[i].data = place_of(graph, &graph->values[i], scratch);
    }
    graph->work = scratch + graph->internal;
    return status;
}

static ember_status_t execute(void *handle, ember_node_t *call) {
    ember_xnn_graph_t *graph = handle;
    const ember_status_t status = settle(graph, call);
    if (status != EMBER_OK) {
        return status;
    }
    const ember_delegate_tracer_t *tracer = ember_node_tracer(call);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (tracer != NULL) {
            ember_xnn_run_traced(graph, i, tracer);
        } else {
            graph->nodes[i].kernel->run(graph, &graph->nodes[i]);
        }
    }
    ember_xnn_widen(graph);
    return EMBER_OK;
}

extern const ember_backend_t ember_backend_xnnpack;
const ember_backend_t ember_backend_xnnpack = {"XnnpackBackend", init, execute, NULL};

// Turns the graph into a state of ember_run_xnnpack(), which has the same arguments and
// scratch in every run; it cannot be executed afterwards.
static ember_status_t settle_for_good(void *handle, ember_node_t *call) {
    ember_xnn_graph_t *graph = handle;
    const ember_status_t status = settle(graph, call);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        graph->nodes[i].run = graph->nodes[i].kernel->run;
    }
    return status;
}

extern const ember_backend_t ember_backend_xnnpack_settling;
const ember_backend_t ember_backend_xnnpack_settling = {"XnnpackBackend", init,
                                                        settle_for_good, NULL};
