// SPDX-License-Identifier: Apache-2.0
// Checked reads of a FlatBuffer.
#include "flat.h"

#if EMBER_ERROR_STRINGS
void ember_flat_note(ember_flat_t *flat, ember_status_t status, const char *message) {
    if (flat->status == EMBER_OK) {
        flat->status = ember_error_set(flat->err, status, message);
    }
}
#else
void ember_flat_note(ember_flat_t *flat, ember_status_t status) {
    if (flat->status == EMBER_OK) {
        flat->status = status;
    }
}
#endif

// An empty vector, and a u64 that is zero.
static const uint32_t zeros[2];

const uint8_t *ember_flat_malformed(ember_flat_t *flat) {
    flat_fail(flat, EMBER_BAD_PROGRAM, "file: malformed FlatBuffer");
    return NULL;
}

void ember_flat_begin(ember_flat_t *flat, const ember_bytes_t *bytes,
                      ember_error_t *err) {
    for (uint32_t i = 0; i < EMBER_LAYOUTS; i++) { // an empty layout without fields
        flat->layouts[i][0].vtable = flat->layouts[i][1].vtable = 0;
        flat->layouts[i][0].most = flat->layouts[i][1].most = 0;
    }
    flat->status = EMBER_OK;
    flat->begin = bytes->data;
    flat->last = bytes->data;
    flat->err = err;
    if (bytes->size < 8 || bytes->size > INT32_MAX) {
        (void)ember_flat_malformed(flat);
    } else {
        flat->last += bytes->size - 4;
    }
}

const uint8_t *ember_flat_follow(ember_flat_t *flat, const uint8_t *at) {
    return flat_follow(flat, at);
}

ember_vector_t ember_flat_vector(ember_flat_t *flat, const uint8_t *table,
                                 uint32_t offset, uint32_t kind) {
    if (offset == 0) {
        return (const uint8_t *)zeros;
    }
    const uint8_t *at = table + offset;
    if (flat_is_inside(flat, at)) {
        at += load_u32(at);
        if (vector_count(at) <= flat_room(flat, at) >> (kind & 3)) {
            return at;
        }
    }
    (void)ember_flat_malformed(flat);
    return (const uint8_t *)zeros;
}

// --- tables ----------------------------------------------------------------------

// Checks the vtable at `at` and the fields of `kinds`. Keeps the last position at which
// a table has all of them inside the buffer; 0, where no table can be, if they are
// wrong. The table size in the vtable is ignored: it may be that of another table that
// shares the vtable. Modulo 2^32, a vtable before the buffer or far behind it is past
// its end, because the buffer is shorter than 2^31.
static __attribute__((noinline)) const ember_layout_t *
read_layout(const ember_flat_t *flat, uint32_t at, uint32_t kinds,
            ember_layout_t *layout) {
    const uint32_t most = flat_room(flat, flat->begin);
    uint16_t *offset = layout->offsets;
    layout->vtable = at;
    layout->most = 0;
    if ((at & 1) != 0 || at > most) {
        return layout;
    }
    const uint8_t *vtable = flat->begin + at;
    const uint32_t end = load_u16(vtable);
    uint32_t size = 4;
    if ((end & 1) != 0 || end - 4 > most - at) {
        return layout;
    }
    for (uint32_t slot = 4; kinds != 0; slot += 2, kinds >>= 3) {
        const uint32_t kind = kinds & 7;
        if (kind == 0) {
            continue;
        }
        const uint32_t need = kind == FLAT_U8 ? 1 : kind == FLAT_U64 ? 8 : 4;
        const uint32_t found = slot < end ? load_u16(vtable + slot) : 0;
        if (found != 0) {
            if (need > 1 && (found & 3) != 0) {
                return layout;
            }
            size = found + need > size ? found + need : size;
        }
        *offset++ = (uint16_t)found;
    }
    layout->most = size <= most ? most + 4 - size : 0;
    return layout;
}

const uint16_t *ember_flat_absent(ember_flat_t *flat, const uint8_t *table) {
    static const uint16_t absent[9];
    if (table != NULL) {
        (void)ember_flat_malformed(flat);
    }
    return absent;
}

const ember_layout_t *ember_flat_next_layout(ember_flat_t *flat, uint32_t at,
                                             uint32_t kinds, ember_layout_t *layouts) {
    layouts[1] = layouts[0];
    return read_layout(flat, at, kinds, layouts);
}

const ember_layout_t *ember_flat_next_union(ember_flat_t *flat, uint32_t vtable) {
    ember_layout_t *layouts = flat->layouts[LAYOUT_UNION];
    const ember_layout_t *layout =
        ember_flat_next_layout(flat, vtable, UNION_FIELDS, layouts);
    const bool whole = layout->most != 0 && layout->offsets[UNION_TAG] != 0 &&
                       layout->offsets[UNION_BODY] != 0;
    layouts[0].most = whole ? layout->most : 0;
    return layout;
}

const uint16_t *ember_flat_layout(ember_flat_t *flat, const uint8_t *table,
                                  uint32_t kinds, ember_layout_t *layouts) {
    return table != NULL ? flat_layout(flat, table, kinds, layouts)
                         : ember_flat_absent(flat, table);
}

void ember_flat_read(ember_flat_t *flat, const uint8_t *table, uint32_t kinds,
                     ember_field_t *fields) {
    ember_layout_t layout;
    const uint16_t *offset;
    if (table != NULL) {
        offset = flat_offsets(
            flat, table, read_layout(flat, flat_vtable(flat, table), kinds, &layout));
    } else {
        offset = ember_flat_absent(flat, table);
    }
    for (; kinds != 0; kinds >>= 3) {
        const uint32_t kind = kinds & 7;
        if (kind == 0) {
            continue;
        }
        if (kind == FLAT_U8) {
            fields->number = flat_u8(table, *offset);
        } else if (kind == FLAT_U32) {
            fields->number = flat_u32(table, *offset);
        } else if (kind == FLAT_TABLE) {
            fields->at = *offset != 0 ? ember_flat_follow(flat, table + *offset) : NULL;
        } else if (kind == FLAT_U64) {
            fields->at = *offset != 0 ? table + *offset : (const uint8_t *)zeros;
        } else {
            fields->at = ember_flat_vector(flat, table, *offset, kind);
        }
        fields++;
        offset++;
    }
}

ember_field_t ember_flat_field(ember_flat_t *flat, const uint8_t *table,
                               uint32_t kind) {
    ember_field_t field;
    ember_flat_read(flat, table, kind, &field);
    return field;
}

const uint8_t *ember_flat_root(ember_flat_t *flat) {
    return ember_flat_follow(flat, flat->begin);
}

const uint8_t *ember_flat_item(ember_flat_t *flat, ember_vector_t tables,
                               uint32_t index) {
    return index < vector_count(tables)
               ? ember_flat_follow(flat, vector_items(tables) + 4 * (size_t)index)
               : ember_flat_malformed(flat);
}

const uint8_t *ember_flat_union(ember_flat_t *flat, ember_vector_t tables,
                                uint32_t index, uint32_t *tag) {
    return flat_union(flat, tables, index, tag);
}

size_t ember_flat_size(const uint8_t *at) {
    const uint64_t value = load_u64(at);
    // unreached: a 64-bit size_t holds everything
    return value <= SIZE_MAX ? (size_t)value : SIZE_MAX;
}

int ember_flat_compare(ember_vector_t string, const void *text, uint32_t length) {
    const uint32_t count = vector_count(string);
    const uint32_t least = count < length ? count : length;
    const int order = least > 0 ? memcmp(vector_items(string), text, least) : 0;
    return order != 0 ? order : (count > length) - (count < length);
}

const uint8_t *ember_flat_find(ember_flat_t *flat, ember_vector_t tables,
                               const char *key, uint32_t key_length) {
    const uint32_t count = vector_count(tables);
    uint32_t low = 0;
    uint32_t high = count;
    // By halves to the first that can have the key if they are sorted. If they are not,
    // any can: from there on, all.
    for (uint32_t left = count; left > 0;) {
        const bool halves = low < high;
        const uint32_t next = low < count ? low : low - count;
        const uint32_t index = halves ? (low + high) / 2 : next;
        const uint8_t *table = ember_flat_item(flat, tables, index);
        const uint16_t *at = ember_flat_layout(flat, table, FLAT(0, FLAT_VEC4),
                                               flat->layouts[LAYOUT_LIST]);
        const ember_vector_t name = ember_flat_vector(flat, table, at[0], FLAT_VEC1);
        const int order = ember_flat_compare(name, key, key_length);
        if (flat->status != EMBER_OK) {
            return NULL;
        }
        if (!halves && order == 0) {
            return table;
        }
        if (!halves) {
            low++;
            left--;
        } else if (order < 0) {
            low = index + 1;
        } else {
            high = index;
        }
    }
    return NULL;
}

bool ember_flat_is(ember_vector_t string, const char *text) {
    const uint32_t count = vector_count(string);
    for (uint32_t i = 0; i < count; i++) {
        // `text` may be shorter: its NUL must not match a NUL of the program.
        if (text[i] == '\0' || vector_items(string)[i] != (uint8_t)text[i]) {
            return false;
        }
    }
    return text[count] == '\0';
}
