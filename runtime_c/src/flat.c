// SPDX-License-Identifier: Apache-2.0
// Unchecked reads of a verified FlatBuffer.
#include "flat.h"

const uint8_t *ember_flat_field(const uint8_t *table, uint32_t id) {
    const uint8_t *vtable = table - (int32_t)load_u32(table);
    const uint32_t at = 4 + 2 * id;
    if (at >= load_u16(vtable)) {
        return NULL;
    }
    const uint32_t offset = load_u16(vtable + at);
    return offset != 0 ? table + offset : NULL;
}

uint32_t ember_flat_u8(const uint8_t *table, uint32_t id) {
    const uint8_t *at = ember_flat_field(table, id);
    return at != NULL ? *at : 0;
}

uint32_t ember_flat_u32(const uint8_t *table, uint32_t id) {
    const uint8_t *at = ember_flat_field(table, id);
    return at != NULL ? load_u32(at) : 0;
}

uint64_t ember_flat_u64(const uint8_t *table, uint32_t id) {
    const uint8_t *at = ember_flat_field(table, id);
    return at != NULL ? load_u64(at) : 0;
}

const uint8_t *ember_flat_table(const uint8_t *table, uint32_t id) {
    const uint8_t *at = ember_flat_field(table, id);
    return at != NULL ? load_ref(at) : NULL;
}

ember_vector_t ember_flat_vector(const uint8_t *table, uint32_t id) {
    const uint8_t *at = ember_flat_table(table, id);
    if (at == NULL) {
        return (ember_vector_t){NULL, 0};
    }
    return (ember_vector_t){at + 4, load_u32(at)};
}

bool ember_flat_equals(ember_vector_t vector, const char *text, uint32_t length) {
    return vector.count == length && memcmp(vector.items, text, length) == 0;
}
