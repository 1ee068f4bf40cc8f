// SPDX-License-Identifier: Apache-2.0
#include "flat.h"

#include "runtime_c/src/flat.c"

// The place of field `id`, of `size` bytes, in the table, inside the buffer; 0: absent.
// The table size in the vtable is ignored, as in read_layout().
static uint32_t find(ember_flat_t *flat, const uint8_t *table, uint32_t id,
                     uint32_t size) {
    const uint32_t most = flat_room(flat, flat->begin);
    const uint32_t slot = 4 + 2 * id;
    if (table == NULL) {
        return 0;
    }
    const uint32_t at = flat_vtable(flat, table);
    if ((at & 1) != 0 || at > most) {
        (void)ember_flat_malformed(flat);
        return 0;
    }
    const uint8_t *vtable = flat->begin + at;
    const uint32_t end = load_u16(vtable);
    if ((end & 1) != 0 || end - 4 > most - at) {
        (void)ember_flat_malformed(flat);
        return 0;
    }
    const uint32_t found = slot < end ? load_u16(vtable + slot) : 0;
    if ((found & (size - 1) & 3) != 0 || // 8 bytes are at multiples of 4
        (found != 0 && found + size > flat_room(flat, table) + 4)) {
        (void)ember_flat_malformed(flat);
        return 0;
    }
    return found;
}

uint32_t ember_xnn_u8(ember_flat_t *flat, const uint8_t *table, uint32_t id) {
    return flat_u8(table, find(flat, table, id, 1));
}

uint32_t ember_xnn_u16(ember_flat_t *flat, const uint8_t *table, uint32_t id) {
    const uint32_t offset = find(flat, table, id, 2);
    return offset != 0 ? load_u16(table + offset) : 0;
}

uint32_t ember_xnn_u32(ember_flat_t *flat, const uint8_t *table, uint32_t id) {
    return flat_u32(table, find(flat, table, id, 4));
}

float ember_xnn_float(ember_flat_t *flat, const uint8_t *table, uint32_t id) {
    return float_of(ember_xnn_u32(flat, table, id));
}

size_t ember_xnn_size(ember_flat_t *flat, const uint8_t *table, uint32_t id) {
    const uint32_t offset = find(flat, table, id, 8);
    return offset != 0 ? ember_flat_size(table + offset) : 0;
}

const uint8_t *ember_xnn_table(ember_flat_t *flat, const uint8_t *table, uint32_t id) {
    return flat_table(flat, table, find(flat, table, id, 4));
}

ember_vector_t ember_xnn_vector(ember_flat_t *flat, const uint8_t *table, uint32_t id,
                                uint32_t kind) {
    return ember_flat_vector(flat, table, find(flat, table, id, 4), kind);
}
