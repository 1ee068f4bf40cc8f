// SPDX-License-Identifier: Apache-2.0
// Reads how a value is quantised: one of four tables.
#include "payload.h"

// Scales in a vector of the payload, or in a constant: `count` of `size` bytes.
static bool read_scales(ember_xnn_payload_t *payload, ember_vector_t scales,
                        uint32_t buffer, uint32_t count, uint32_t size,
                        ember_xnn_value_t *value) {
    if (buffer != 0) {
        return ember_xnn_constant(payload, buffer, (size_t)count * size, size,
                                  &value->scales, &value->scales_key);
    }
    value->scales = vector_items(scales);
    payload->graph->reads_payload = true;
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

// Only weights (n, k), with scales (n, k / group).
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
    // The bfloat16 field in the payload itself is deprecated: nothing writes it.
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

ember_status_t ember_xnn_read_quantization(ember_xnn_payload_t *payload,
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
