// SPDX-License-Identifier: Apache-2.0
// Opens a payload, and finds its constants.
#include "payload.h"

enum {
    MAGIC_AT = 4,
    LENGTH_AT = 8,
    FLAT_AT = 10,
    FLAT_SIZE_AT = 14,
    CONSTANTS_AT = 18,
    CONSTANTS_SIZE_AT = 22,
    HEADER_SIZE = 30,
    LEAST_FLAT = 8,
};

static uint32_t u16_at(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8;
}

static uint32_t u32_at(const uint8_t *at) {
    return u16_at(at) | u16_at(at + 2) << 16;
}

// Cuts [at, at + size) out of `whole`; no sum is formed, so none can wrap.
static bool cut(const ember_bytes_t *whole, size_t at, size_t size,
                ember_bytes_t *part) {
    if (at > whole->size || size > whole->size - at) {
        return false;
    }
    *part = (ember_bytes_t){whole->data + at, size};
    return true;
}

static bool cut_parts(const ember_bytes_t *blob, ember_bytes_t *flat,
                      ember_bytes_t *constants) {
    const uint8_t *head = blob->data;
    const uint32_t flat_at = u32_at(head + FLAT_AT);
    const uint32_t flat_size = u32_at(head + FLAT_SIZE_AT);
    const uint32_t constants_at = u32_at(head + CONSTANTS_AT);
    const uint32_t constants_size = u32_at(head + CONSTANTS_SIZE_AT);
    return u16_at(head + LENGTH_AT) >= HEADER_SIZE &&
           u32_at(head + CONSTANTS_SIZE_AT + 4) == 0 && flat_at >= HEADER_SIZE &&
           cut(blob, flat_at, flat_size, flat) &&
           cut(blob, constants_at, constants_size, constants) &&
           (constants_size == 0 || constants_at >= flat_at + flat_size);
}

static bool known_schema(const ember_bytes_t *flat) {
    return flat->size >= LEAST_FLAT && (memcmp(flat->data + 4, "XN01", 4) == 0 ||
                                        memcmp(flat->data + 4, "XN00", 4) == 0);
}

ember_status_t ember_xnn_open(ember_xnn_payload_t *payload) {
    const ember_bytes_t *blob = &payload->graph->info->blob;
    ember_error_t *error = payload->graph->info->error;
    ember_bytes_t flat = *blob;
    payload->headed =
        blob->size >= HEADER_SIZE && memcmp(blob->data + MAGIC_AT, "XH00", 4) == 0;
    if (payload->headed && !cut_parts(blob, &flat, &payload->constants)) {
        return ember_fail(error, EMBER_BACKEND, "xnnpack: the payload is truncated");
    }
    if (!known_schema(&flat)) {
        return ember_fail(error, EMBER_UNSUPPORTED,
                          "xnnpack: the payload's schema is not XN00 or XN01");
    }
    if (((uintptr_t)flat.data & 3) != 0) {
        return ember_fail(error, EMBER_UNSUPPORTED,
                          "xnnpack: the payload must be aligned to 4 bytes");
    }
    ember_flat_begin(&payload->flat, &flat, error);
    payload->root = ember_flat_root(&payload->flat);
    return payload->flat.status;
}

// Bytes that the program holds under a name; empty if it has none.
static bool named_constant(ember_xnn_payload_t *payload, ember_vector_t key,
                           ember_bytes_t *bytes) {
    const ember_status_t status = ember_program_named_data(
        payload->graph->info->program, (const char *)vector_items(key),
        vector_count(key), bytes);
    return status == EMBER_OK || status == EMBER_NOT_FOUND;
}

static bool find_constant(ember_xnn_payload_t *payload, uint32_t index,
                          ember_bytes_t *bytes, uint32_t *key) {
    ember_flat_t *flat = &payload->flat;
    if (!payload->headed) {
        const ember_vector_t buffers =
            ember_xnn_vector(flat, payload->root, GRAPH_BUFFERS, FLAT_VEC4);
        const uint8_t *buffer = ember_flat_item(flat, buffers, index);
        const ember_vector_t storage =
            ember_xnn_vector(flat, buffer, BUFFER_STORAGE, FLAT_VEC1);
        *bytes = (ember_bytes_t){vector_items(storage), vector_count(storage)};
        return true;
    }
    const ember_vector_t all =
        ember_xnn_vector(flat, payload->root, GRAPH_CONSTANTS, FLAT_VEC4);
    const uint8_t *entry = ember_flat_item(flat, all, index);
    const ember_vector_t name = ember_xnn_vector(flat, entry, CONSTANT_KEY, FLAT_VEC1);
    if (vector_count(name) > 0) {
        *key = (uint32_t)(name - payload->graph->payload);
        return named_constant(payload, name, bytes);
    }
    return cut(&payload->constants, ember_xnn_size(flat, entry, CONSTANT_OFFSET),
               ember_xnn_size(flat, entry, CONSTANT_SIZE), bytes);
}

bool ember_xnn_constant(ember_xnn_payload_t *payload, uint32_t index, size_t size,
                        size_t align, const void **data, uint32_t *key) {
    ember_bytes_t bytes = {NULL, 0};
    *key = 0;
    if (!find_constant(payload, index, &bytes, key) ||
        payload->flat.status != EMBER_OK) {
        return false;
    }
    *data = bytes.data;
    payload->graph->reads_payload |= *key == 0;
    return (*key != 0 && bytes.data == NULL) ||
           (bytes.size >= size && ((uintptr_t)bytes.data & (align - 1)) == 0);
}
