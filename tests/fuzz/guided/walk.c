// SPDX-License-Identifier: Apache-2.0
// See walk.h. A word is taken for an offset when it leads to what looks like a table or
// a vector; an item of a vector is one when it leads to a table.
#include "walk.h"

#include <string.h>

enum { MOST_TABLES = 512, MOST_FIELDS = 32, MOST_ITEMS = 64 };

typedef struct walker {
    const uint8_t *data;
    uint32_t size;
    position_t *positions;
    uint32_t count, most;
    uint32_t tables[MOST_TABLES]; // that were found; the first `done` were looked at
    uint32_t table_count, done;
} walker_t;

static uint32_t word(const walker_t *walker, uint32_t at) {
    uint32_t value;
    memcpy(&value, walker->data + at, sizeof(value));
    return value;
}

static uint32_t half(const walker_t *walker, uint32_t at) {
    uint16_t value;
    memcpy(&value, walker->data + at, sizeof(value));
    return value;
}

static bool has(const walker_t *walker, uint32_t at, uint32_t bytes) {
    return at <= walker->size && bytes <= walker->size - at;
}

static void note(walker_t *walker, uint32_t at, uint8_t width, uint8_t kind) {
    if (walker->count < walker->most && has(walker, at, width)) {
        walker->positions[walker->count++] = (position_t){at, width, kind, 0};
    }
}

// Where the vtable of a table is; false when none can be one.
static bool find_vtable(const walker_t *walker, uint32_t table, uint32_t *vtable) {
    if (table % 4 != 0 || !has(walker, table, 4)) {
        return false;
    }
    *vtable = table - word(walker, table);
    return has(walker, *vtable, 4) && *vtable % 2 == 0 && half(walker, *vtable) >= 4 &&
           half(walker, *vtable) % 2 == 0 &&
           has(walker, *vtable, half(walker, *vtable)) &&
           has(walker, table, half(walker, *vtable + 2));
}

static bool is_table(const walker_t *walker, uint32_t at) {
    uint32_t vtable;
    return find_vtable(walker, at, &vtable);
}

static void push(walker_t *walker, uint32_t table) {
    for (uint32_t i = 0; i < walker->table_count; i++) {
        if (walker->tables[i] == table) {
            return;
        }
    }
    if (walker->table_count < MOST_TABLES) {
        walker->tables[walker->table_count++] = table;
    }
}

// Where an offset at `at` leads; 0: it is none.
static uint32_t target_of(const walker_t *walker, uint32_t at) {
    const uint32_t offset = has(walker, at, 4) ? word(walker, at) : 0;
    return offset >= 4 && offset < walker->size - at && has(walker, at + offset, 4)
               ? at + offset
               : 0;
}

static void look_at_vector(walker_t *walker, uint32_t at) {
    const uint32_t count = word(walker, at);
    note(walker, at, 4, COUNT);
    if (!has(walker, at + 4, count) || count > walker->size / 4) {
        return;
    }
    for (uint32_t i = 0; i < count && i < MOST_ITEMS; i++) {
        const uint32_t item = at + 4 + 4 * i;
        const uint32_t target = target_of(walker, item);
        if (target != 0 && is_table(walker, target)) {
            note(walker, item, 4, OFFSET);
            push(walker, target);
        } else {
            note(walker, item, 4, SCALAR);
        }
    }
}

static void look_at_field(walker_t *walker, uint32_t at) {
    const uint32_t target = at % 4 == 0 ? target_of(walker, at) : 0;
    note(walker, at, 1, TAG);
    if (target == 0) {
        note(walker, at, 4, SCALAR);
    } else if (is_table(walker, target)) {
        note(walker, at, 4, OFFSET);
        push(walker, target);
    } else {
        note(walker, at, 4, OFFSET);
        look_at_vector(walker, target);
    }
}

static void look_at_table(walker_t *walker, uint32_t table) {
    uint32_t vtable;
    if (!find_vtable(walker, table, &vtable)) {
        return;
    }
    note(walker, table, 4, TABLE);
    note(walker, vtable, 2, VTABLE);
    note(walker, vtable + 2, 2, VTABLE);
    const uint32_t fields = (half(walker, vtable) - 4) / 2;
    for (uint32_t i = 0; i < fields && i < MOST_FIELDS; i++) {
        const uint32_t place = vtable + 4 + 2 * i;
        note(walker, place, 2, VTABLE);
        if (half(walker, place) >= 4) {
            look_at_field(walker, table + half(walker, place));
        }
    }
}

static bool starts(const walker_t *walker, uint32_t at, const char *magic) {
    return has(walker, at, 4) && memcmp(walker->data + at, magic, 4) == 0;
}

// FlatBuffers: the file, a program in a bundle, a delegate's payload with or without a
// header of its own.
static void push_roots(walker_t *walker) {
    static const char *const magics[] = {"ET12", "BP08", "FT01", "XN00", "XN01"};
    for (uint32_t at = 4; has(walker, at, 4); at += 4) {
        for (uint32_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
            const uint32_t root = starts(walker, at, magics[i]) ? at - 4 : UINT32_MAX;
            const uint32_t table = root != UINT32_MAX ? target_of(walker, root) : 0;
            if (table != 0) {
                note(walker, root, 4, OFFSET);
                push(walker, table);
            }
        }
        if (starts(walker, at, "XH00") || starts(walker, at, "eh00")) {
            for (uint32_t field = 4; field < 32; field += 4) {
                note(walker, at + field, 4, HEADER);
            }
        }
    }
}

uint32_t walk(const uint8_t *data, uint32_t size, position_t *positions,
              uint32_t most) {
    walker_t walker = {
        .data = data, .size = size, .positions = positions, .most = most};
    push_roots(&walker);
    while (walker.done < walker.table_count) {
        look_at_table(&walker, walker.tables[walker.done++]);
    }
    return walker.count;
}
