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

void ember_flat_fields(const uint8_t *table, const uint8_t **fields, uint32_t count) {
    const uint8_t *at = table - (int32_t)load_u32(table);
    const uint8_t *end = at + load_u16(at);
    for (at += 4; count > 0; count--, at += 2) {
        const uint32_t offset = at < end ? load_u16(at) : 0;
        *fields++ = offset != 0 ? table + offset : NULL;
    }
}

uint32_t ember_flat_u8(const uint8_t *table, uint32_t id) {
    const uint8_t *at = ember_flat_field(table, id);
    return at != NULL ? *at : 0;
}

uint32_t ember_flat_u32(const uint8_t *table, uint32_t id) {
    const uint8_t *at = ember_flat_field(table, id);
    return at != NULL ? load_u32(at) : 0;
}

const uint8_t *ember_flat_table(const uint8_t *table, uint32_t id) {
    const uint8_t *at = ember_flat_field(table, id);
    return at != NULL ? load_ref(at) : NULL;
}

ember_vector_t ember_flat_vector(const uint8_t *table, uint32_t id) {
    static const uint32_t empty = 0;
    const uint8_t *at = ember_flat_table(table, id);
    return at != NULL ? at : (const uint8_t *)&empty;
}

size_t ember_flat_size(const uint8_t *at) {
    const uint64_t value = load_u64(at);
    return value <= SIZE_MAX ? (size_t)value : SIZE_MAX;
}

size_t ember_flat_size_field(const uint8_t *table, uint32_t id) {
    const uint8_t *at = ember_flat_field(table, id);
    return at != NULL ? ember_flat_size(at) : 0;
}

bool ember_flat_equals(ember_vector_t string, const void *text, uint32_t length) {
    return vector_count(string) == length &&
           (length == 0 || memcmp(vector_items(string), text, length) == 0);
}

const uint8_t *ember_flat_find(ember_vector_t tables, const char *key,
                               uint32_t key_length) {
    for (uint32_t i = 0; i < vector_count(tables); i++) {
        const uint8_t *table = vector_table(tables, i);
        if (ember_flat_equals(ember_flat_vector(table, 0), key, key_length)) {
            return table;
        }
    }
    return NULL;
}

bool ember_flat_is(const uint8_t *table, uint32_t id, const char *text) {
    const ember_vector_t string = ember_flat_vector(table, id);
    const uint32_t count = vector_count(string);
    for (uint32_t i = 0; i < count; i++) {
        // `text` may be shorter: its NUL must not equal a NUL of the program's.
        if (text[i] == '\0' || vector_items(string)[i] != (uint8_t)text[i]) {
            return false;
        }
    }
    return text[count] == '\0';
}
