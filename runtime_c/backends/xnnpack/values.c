// SPDX-License-Identifier: Apache-2.0
// Reading the values of a graph.
#include "payload.h"

enum { MOST_VALUES = 1 << 12 }; // what is done in squares stays short

uint32_t ember_xnn_element_size(uint32_t datatype) {
    switch (datatype) {
    case XNN_F32:
    case XNN_QS32:
    case XNN_QCS32:
    case XNN_S32:
        return 4;
    case XNN_F16:
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
                           1u << XNN_S32;
    return datatype <= XNN_S32 && (known >> datatype & 1) != 0;
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

// Scales in a vector of the payload, or in a constant: `count` of `size` bytes.
static bool read_scales(ember_xnn_payload_t *payload, ember_vector_t scales,
                        uint32_t buffer, uint32_t count, uint32_t size,
                        ember_xnn_value_t *value) {
    if (buffer != 0) {
        return ember_xnn_constant(payload, buffer, (size_t)count * size, size,
                                  &value->scales, &value->scales_key);
    }
    value->scales = vector_items(scales);
    return vector_count(scales) >= count;
}

static bool read_channel(ember_xnn_payload_t *payload, const uint8_t *params,
                         ember_xnn_value_t *value) {
    ember_flat_t *flat = &payload->flat;
    const uint32_t dim = ember_xnn_u32(flat, params, PER_CHANNEL_DIM);
    const bool wanted = value->datatype == XNN_QCS8 || value->datatype == XNN_QCS32 ||
                        value->datatype == XNN_QCS4;
    if (!wanted || dim >= value->rank) {
        return false;
    }
    value->group = dim;
    return read_scales(payload,
                       ember_xnn_vector(flat, params, PER_CHANNEL_SCALES, FLAT_VEC4),
                       ember_xnn_u32(flat, params, PER_CHANNEL_BUFFER),
                       (uint32_t)value->sizes[dim], 4, value);
}

// Only weights (n, k), their scales (n, k / group).
static bool read_group(ember_xnn_payload_t *payload, const uint8_t *params,
                       ember_xnn_value_t *value) {
    ember_flat_t *flat = &payload->flat;
    const uint32_t group = ember_xnn_u32(flat, params, PER_GROUP_SIZE);
    if (value->datatype != XNN_QBS4 || value->rank != 2 ||
        ember_xnn_u32(flat, params, PER_GROUP_DIM) != 0 || group == 0 ||
        (uint32_t)value->sizes[1] % group != 0) {
        return false;
    }
    value->group = group;
    const uint32_t count = value->numel / group;
    const uint32_t buffer = ember_xnn_u32(flat, params, PER_GROUP_BUFFER);
    const ember_vector_t scales =
        ember_xnn_vector(flat, params, PER_GROUP_BF16, FLAT_VEC1);
    // The field of bfloat16 in the payload itself is deprecated: nothing writes it.
    return buffer != 0 && read_scales(payload, scales, buffer, count, 2, value);
}

static bool read_tensor(ember_xnn_payload_t *payload, const uint8_t *params,
                        ember_xnn_value_t *value) {
    value->scale = ember_xnn_float(&payload->flat, params, PER_TENSOR_SCALE);
    value->zero = (int32_t)ember_xnn_u32(&payload->flat, params, PER_TENSOR_ZERO);
    return (value->datatype == XNN_QS8 || value->datatype == XNN_QS32) &&
           value->zero >= INT8_MIN && value->zero <= INT8_MAX;
}

static bool read_token(ember_xnn_payload_t *payload, const uint8_t *params,
                       ember_xnn_value_t *value) {
    value->group = ember_xnn_u32(&payload->flat, params, PER_TOKEN_DIMS);
    return value->datatype == XNN_QDS8 && value->group <= value->rank;
}

static ember_status_t read_quantization(ember_xnn_payload_t *payload,
                                        const uint8_t *quantized,
                                        ember_xnn_value_t *value) {
    ember_flat_t *flat = &payload->flat;
    const uint8_t *params = ember_xnn_table(flat, quantized, QUANTIZED_PARAMS);
    bool good = false;
    switch (ember_xnn_u8(flat, quantized, QUANTIZED_TAG)) {
    case QUANT_CHANNEL:
        good = read_channel(payload, params, value);
        break;
    case QUANT_TENSOR:
        good = read_tensor(payload, params, value);
        break;
    case QUANT_TOKEN:
        good = read_token(payload, params, value);
        break;
    case QUANT_GROUP:
        good = read_group(payload, params, value);
        break;
    default:
        break;
    }
    return good ? EMBER_OK : ember_xnn_bad(payload->graph);
}

// Datatypes that mean nothing without quantisation; of weights and biases only.
static bool needs_quantization(uint32_t datatype) {
    return datatype != XNN_F32 && datatype != XNN_F16 && datatype != XNN_S32;
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
    if (!known_datatype(datatype) ||
        ember_xnn_u16(flat, tensor, TENSOR_DQ_DATATYPE) != 0) {
        return ember_fail(payload->graph->info->error, EMBER_UNSUPPORTED,
                          "xnnpack: a datatype that this backend does not know");
    }
    if (needs_quantization(datatype) && !quantized) {
        return ember_xnn_bad(payload->graph);
    }
    ember_status_t status = read_sizes(payload, tensor, value);
    if (status == EMBER_OK && quantized) {
        status = read_quantization(payload, body, value);
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

ember_status_t ember_xnn_read_values(ember_xnn_payload_t *payload) {
    ember_xnn_graph_t *graph = payload->graph;
    const ember_vector_t all =
        ember_xnn_vector(&payload->flat, payload->root, GRAPH_VALUES, FLAT_VEC4);
    ember_status_t status = EMBER_OK;
    graph->value_count = vector_count(all);
    if (graph->value_count > MOST_VALUES) {
        return ember_fail(graph->info->error, EMBER_UNSUPPORTED,
                          "xnnpack: a graph of more than 4096 values");
    }
    graph->values = ember_arena_array(graph->info->arena, graph->value_count,
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
    return payload->flat.status != EMBER_OK ? payload->flat.status : status;
}
