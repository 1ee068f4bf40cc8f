// SPDX-License-Identifier: Apache-2.0
// Reads the values of a graph.
#include "payload.h"

enum { MOST_VALUES = 1 << 12 }; // keeps quadratic loops short

uint32_t ember_xnn_element_size(uint32_t datatype) {
    switch (datatype) {
    case XNN_F32:
    case XNN_QS32:
    case XNN_QCS32:
    case XNN_S32:
        return 4;
    case XNN_F16:
    case XNN_BF16:
        return 2;
    case XNN_QCS4:
    case XNN_QBS4:
        return 0;
    default:
        return 1;
    }
}

static bool known_datatype(uint32_t datatype) {
    const uint32_t known = 1u << XNN_F32 | 1u << XNN_F16 | 1u << XNN_QS8 |
                           1u << XNN_QS32 | 1u << XNN_QCS8 | 1u << XNN_QCS32 |
                           1u << XNN_QCS4 | 1u << XNN_QDS8 | 1u << XNN_QBS4 |
                           1u << XNN_S32 | 1u << XNN_BF16;
    return datatype <= XNN_BF16 && (known >> datatype & 1) != 0;
}

static ember_status_t read_sizes(ember_xnn_payload_t *payload, const uint8_t *tensor,
                                 ember_xnn_value_t *value) {
    const ember_vector_t dims =
        ember_xnn_vector(&payload->flat, tensor, TENSOR_DIMS, FLAT_VEC4);
    const uint32_t rank = ember_xnn_u32(&payload->flat, tensor, TENSOR_RANK);
    int32_t sizes[XNN_MOST_DIMS];
    if (rank > XNN_MOST_DIMS || vector_count(dims) != rank) {
        return ember_xnn_bad(payload->graph);
    }
    for (uint32_t i = 0; i < rank; i++) {
        const uint32_t size = vector_u32(dims, i);
        if (size > INT32_MAX) {
            return ember_xnn_bad(payload->graph);
        }
        sizes[i] = (int32_t)size;
    }
    return ember_xnn_resize(payload->graph, value, rank, sizes)
               ? EMBER_OK
               : ember_xnn_bad_shape(payload->graph);
}

// Datatypes that are only valid for quantised weights and biases.
static bool needs_quantization(uint32_t datatype) {
    return datatype != XNN_F32 && datatype != XNN_F16 && datatype != XNN_BF16 &&
           datatype != XNN_S32;
}

static bool is_of_constants(uint32_t datatype) {
    return datatype == XNN_QS32 || datatype == XNN_QCS8 || datatype == XNN_QCS32 ||
           datatype == XNN_QCS4 || datatype == XNN_QBS4;
}

// Where its elements are: a constant, an argument of the call, or scratch.
static ember_status_t find_place(ember_xnn_payload_t *payload, const uint8_t *tensor,
                                 ember_xnn_value_t *value) {
    const uint32_t constant = ember_xnn_u32(&payload->flat, tensor, TENSOR_CONSTANT);
    if ((constant == 0 && is_of_constants(value->datatype)) ||
        (constant != 0 && value->datatype == XNN_QDS8)) {
        return ember_xnn_bad(payload->graph);
    }
    if (constant == 0) {
        return EMBER_OK;
    }
    const uint32_t size = ember_xnn_element_size(value->datatype);
    value->place = XNN_CONSTANT;
    value->known = true;
    if (!ember_xnn_constant(payload, constant, value->bytes, size + (size == 0),
                            &value->constant, &value->key)) {
        return ember_fail(payload->graph->info->error, EMBER_BACKEND,
                          "xnnpack: a constant is missing or too short");
    }
    return EMBER_OK;
}

static bool is_dynamic(ember_flat_t *flat, const uint8_t *tensor) {
    return ember_xnn_u16(flat, tensor, TENSOR_DQ_DATATYPE) != 0;
}

static ember_status_t read_value(ember_xnn_payload_t *payload, const uint8_t *xvalue,
                                 ember_xnn_value_t *value) {
    ember_flat_t *flat = &payload->flat;
    const uint8_t *body = ember_xnn_table(flat, xvalue, XVALUE_BODY);
    const bool quantized = ember_xnn_u8(flat, xvalue, XVALUE_TAG) == XVALUE_QUANTIZED;
    const uint8_t *tensor =
        quantized ? ember_xnn_table(flat, body, QUANTIZED_TENSOR) : body;
    const uint32_t datatype = ember_xnn_u16(flat, tensor, TENSOR_DATATYPE);
    value->id = ember_xnn_u32(flat, tensor, TENSOR_ID);
    value->argument = ember_xnn_u32(flat, tensor, TENSOR_EXTERNAL);
    value->datatype = (uint8_t)datatype;
    value->dynamic = is_dynamic(flat, tensor);
    if (!known_datatype(datatype) ||
        (value->dynamic && datatype != XNN_F32 && datatype != XNN_F16)) {
        return ember_fail(payload->graph->info->error, EMBER_UNSUPPORTED,
                          "xnnpack: unknown datatype");
    }
    if (needs_quantization(datatype) && !quantized) {
        return ember_xnn_bad(payload->graph);
    }
    ember_status_t status = read_sizes(payload, tensor, value);
    if (status == EMBER_OK && quantized) {
        status = ember_xnn_read_quantization(payload, body, value);
    }
    if (status == EMBER_OK) {
        status = find_place(payload, tensor, value);
    }
    return status;
}

// Values named in `ids` are arguments of the call.
static ember_status_t mark(ember_xnn_payload_t *payload, uint32_t field,
                           ember_xnn_place_t place) {
    ember_xnn_graph_t *graph = payload->graph;
    const ember_vector_t ids =
        ember_xnn_vector(&payload->flat, payload->root, field, FLAT_VEC4);
    for (uint32_t i = 0; i < vector_count(ids); i++) {
        ember_xnn_value_t *value = ember_xnn_find(graph, vector_u32(ids, i));
        if (value == NULL || value->place != XNN_INTERNAL ||
            value->datatype == XNN_QDS8) {
            return ember_xnn_bad(graph);
        }
        value->place = (uint8_t)place;
        value->known = place == XNN_INPUT;
    }
    return EMBER_OK;
}

// Programs of older exporters have no Convert before a layer with dynamically quantised
// input: the input's value says so. It is split in two: the argument, after all other
// values, and the value that nodes read.
static ember_status_t split_dynamic(ember_xnn_graph_t *graph) {
    const uint32_t count = graph->value_count;
    for (uint32_t i = 0; i < count; i++) {
        ember_xnn_value_t *value = &graph->values[i];
        if (!value->dynamic) {
            continue;
        }
        if (value->place != XNN_INPUT || value->rank < 1) {
            return ember_xnn_bad(graph);
        }
        ember_xnn_value_t *argument = &graph->values[graph->value_count++];
        *argument = *value;
        argument->id = XNN_NO_VALUE;
        argument->dynamic = false;
        value->place = XNN_INTERNAL;
        value->datatype = XNN_QDS8;
        value->group = 1;
        value->known = false;
        if (!ember_xnn_resize(graph, value, argument->rank, argument->sizes)) {
            return ember_xnn_bad_shape(graph);
        }
    }
    return EMBER_OK;
}

static uint32_t count_dynamic(ember_flat_t *flat, ember_vector_t all) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < vector_count(all); i++) {
        const uint8_t *xvalue = ember_flat_item(flat, all, i);
        count += ember_xnn_u8(flat, xvalue, XVALUE_TAG) == XVALUE_TENSOR &&
                 is_dynamic(flat, ember_xnn_table(flat, xvalue, XVALUE_BODY));
    }
    return count;
}

ember_status_t ember_xnn_read_values(ember_xnn_payload_t *payload) {
    ember_xnn_graph_t *graph = payload->graph;
    const ember_vector_t all =
        ember_xnn_vector(&payload->flat, payload->root, GRAPH_VALUES, FLAT_VEC4);
    ember_status_t status = EMBER_OK;
    graph->value_count = vector_count(all);
    if (graph->value_count > MOST_VALUES) {
        return ember_fail(graph->info->error, EMBER_UNSUPPORTED,
                          "xnnpack: the graph has more than 4096 values");
    }
    payload->dynamic = count_dynamic(&payload->flat, all);
    graph->values =
        ember_arena_array(graph->info->arena, graph->value_count + payload->dynamic,
                          sizeof(ember_xnn_value_t), 8);
    if (graph->values == NULL) {
        return EMBER_NO_MEMORY;
    }
    for (uint32_t i = 0; status == EMBER_OK && i < graph->value_count; i++) {
        status = read_value(payload, ember_flat_item(&payload->flat, all, i),
                            &graph->values[i]);
    }
    if (status == EMBER_OK) {
        status = mark(payload, GRAPH_INPUTS, XNN_INPUT);
    }
    if (status == EMBER_OK) {
        status = mark(payload, GRAPH_OUTPUTS, XNN_OUTPUT);
    }
    if (status == EMBER_OK) {
        status = split_dynamic(graph);
    }
    return payload->flat.status != EMBER_OK ? payload->flat.status : status;
}
