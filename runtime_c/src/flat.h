// SPDX-License-Identifier: Apache-2.0
// Reads a FlatBuffer in place. Every read is checked where it happens, so nothing has
// to be verified before.
//
// A table is a pointer to its first byte, a vector a pointer to its count. The
// functions below only return pointers to tables with at least 4 bytes inside the
// buffer, and to vectors that are entirely inside it. Absent fields read as zero, NULL
// or an empty vector: all fields of Ember's schemas default to zero. Malformed data
// reads as absent, which is always safe, and the first failure sticks: test `status`
// once, after reading and before relying on the result.
#ifndef EMBER_FLAT_H
#define EMBER_FLAT_H

#include <string.h>

#include "ember/program.h"

static inline uint16_t load_u16(const uint8_t *at) {
    uint16_t value;
    memcpy(&value, __builtin_assume_aligned(at, 2), sizeof(value));
    return value;
}

static inline uint32_t load_u32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, __builtin_assume_aligned(at, 4), sizeof(value));
    return value;
}

// In memory, 64-bit scalars are only guaranteed to be at multiples of 4.
static inline uint64_t load_u64(const uint8_t *at) {
    return load_u32(at) | (uint64_t)load_u32(at + 4) << 32;
}

typedef const uint8_t *ember_vector_t;

static inline uint32_t vector_count(ember_vector_t vector) {
    return load_u32(vector);
}

static inline const uint8_t *vector_items(ember_vector_t vector) {
    return vector + 4;
}

static inline uint32_t vector_u32(ember_vector_t vector, uint32_t index) {
    return load_u32(vector_items(vector) + 4 * (size_t)index);
}

// The u64 at `at` as a size; a value too large for a size_t becomes SIZE_MAX, which is
// more than any memory has.
EMBER_LOCAL size_t ember_flat_size(const uint8_t *at);

// Item `index` of a vector of u64, the same way.
static inline size_t vector_size(ember_vector_t vector, uint32_t index) {
    return ember_flat_size(vector_items(vector) + 8 * (size_t)index);
}

// The kinds of fields. The two low bits of a vector's kind are log2 of its item size.
enum {
    FLAT_U8 = 1,    // number
    FLAT_U32 = 2,   // number
    FLAT_TABLE = 3, // at; NULL when absent
    FLAT_VEC1 = 4,  // at: a vector of 1-byte items, or a string
    FLAT_U64 = 5,   // at: its address
    FLAT_VEC4 = 6,  // at: where it is
    FLAT_VEC8 = 7,  // at
};

// Which fields of a table are read: FLAT(id, kind) | FLAT(id, kind) ...
#define FLAT(id, kind) ((uint32_t)(kind) << 3 * (id))

// Sets up a reader of `bytes`, which are aligned to 4. Failure messages go to `err`,
// which may be NULL.
EMBER_LOCAL void ember_flat_begin(ember_flat_t *flat, const ember_bytes_t *bytes,
                                  ember_error_t *err);

// Records a failure, unless there was one before.
#if EMBER_ERROR_STRINGS
#define flat_fail(flat, status, message) ember_flat_note((flat), (status), (message))
EMBER_LOCAL void ember_flat_note(ember_flat_t *flat, ember_status_t status,
                                 const char *message);
#else
#define flat_fail(flat, status, message) ember_flat_note((flat), (status))
EMBER_LOCAL void ember_flat_note(ember_flat_t *flat, ember_status_t status);
#endif

// Reads the fields named by `kinds`, in order of their ids, into fields[0], [1], ... A
// NULL `table` has none.
EMBER_LOCAL void ember_flat_read(ember_flat_t *flat, const uint8_t *table,
                                 uint32_t kinds, ember_field_t *fields);

// A single field.
EMBER_LOCAL ember_field_t ember_flat_field(ember_flat_t *flat, const uint8_t *table,
                                           uint32_t kind);

// Tables of which a program has thousands are read field by field. Most tables of a
// kind share one or two vtables: flat->layouts caches the last two.
enum {
    LAYOUT_UNION,
    LAYOUT_CALL,
    LAYOUT_NUMBER,
    LAYOUT_LIST,
    LAYOUT_SEGMENT,
    LAYOUT_TENSOR,
    LAYOUT_ALLOCATION,
    LAYOUT_NAMED = LAYOUT_CALL, // for readers of files, which read no calls
};

static inline uint32_t flat_u8(const uint8_t *table, uint32_t offset) {
    return offset != 0 ? table[offset] : 0;
}

static inline uint32_t flat_u32(const uint8_t *table, uint32_t offset) {
    return offset != 0 ? load_u32(table + offset) : 0;
}

// Bytes from `at` + 4 to the end.
static inline uint32_t flat_room(const ember_flat_t *flat, const uint8_t *at) {
    return (uint32_t)(flat->last - at);
}

// Records that the file is malformed, and returns NULL.
EMBER_LOCAL __attribute__((noinline)) const uint8_t *
ember_flat_malformed(ember_flat_t *flat);

// Whether the target of the offset at `at`, which is in the buffer, is aligned to 4 and
// has at least 4 bytes.
EMBER_INLINE bool flat_is_inside(const ember_flat_t *flat, const uint8_t *at) {
    const uint32_t offset = load_u32(at);
    // In words, at least one: an offset with odd bytes becomes huge and is refused.
    const uint32_t words = offset >> 2 | offset << 30;
    return words - 1 < flat_room(flat, at) >> 2;
}

// Follows the offset at `at`; NULL if its target is outside.
EMBER_INLINE const uint8_t *flat_follow(ember_flat_t *flat, const uint8_t *at) {
    return flat_is_inside(flat, at) ? at + load_u32(at) : ember_flat_malformed(flat);
}

// The same out of line, for what is not read by the hundred.
EMBER_LOCAL __attribute__((noinline)) const uint8_t *
ember_flat_follow(ember_flat_t *flat, const uint8_t *at);

EMBER_INLINE const uint8_t *flat_table(ember_flat_t *flat, const uint8_t *table,
                                       uint32_t offset) {
    return offset != 0 ? ember_flat_follow(flat, table + offset) : NULL;
}

// The offsets of a malformed table, which is recorded, or of NULL: all absent.
EMBER_LOCAL __attribute__((noinline)) const uint16_t *
ember_flat_absent(ember_flat_t *flat, const uint8_t *table);

// Where the vtable of a table is.
EMBER_INLINE uint32_t flat_vtable(const ember_flat_t *flat, const uint8_t *table) {
    return (uint32_t)(table - flat->begin) - load_u32(table);
}

// Whether the fields of a table, which has that layout, are in the buffer.
EMBER_INLINE bool flat_has_fields(const ember_flat_t *flat, const uint8_t *table,
                                  const ember_layout_t *layout) {
    return (uint32_t)(table - flat->begin) <= layout->most;
}

// The cached offsets for the table's vtable, if its fields are in the buffer.
EMBER_INLINE const uint16_t *flat_offsets(ember_flat_t *flat, const uint8_t *table,
                                          const ember_layout_t *layout) {
    return flat_has_fields(flat, table, layout) ? layout->offsets
                                                : ember_flat_absent(flat, table);
}

// Reads a layout that is neither of the two cached ones.
EMBER_LOCAL __attribute__((noinline)) const ember_layout_t *
ember_flat_next_layout(ember_flat_t *flat, uint32_t vtable, uint32_t kinds,
                       ember_layout_t *layouts);

// Offsets of the fields that `kinds` names, in order; 0 for absent ones. `table` is not
// NULL. All calls with the same `layouts` must name the same kinds.
EMBER_INLINE const uint16_t *flat_layout(ember_flat_t *flat, const uint8_t *table,
                                         uint32_t kinds, ember_layout_t *layouts) {
    const uint32_t vtable = flat_vtable(flat, table);
    const ember_layout_t *layout = layouts;
    if (vtable != layout->vtable && vtable != (++layout)->vtable) {
        layout = ember_flat_next_layout(flat, vtable, kinds, layouts);
    }
    return flat_offsets(flat, table, layout);
}

// The same, out of line, for places that do not read by the hundred; a NULL `table` has
// no fields.
EMBER_LOCAL __attribute__((noinline)) const uint16_t *
ember_flat_layout(ember_flat_t *flat, const uint8_t *table, uint32_t kinds,
                  ember_layout_t *layouts);

EMBER_LOCAL ember_vector_t ember_flat_vector(ember_flat_t *flat, const uint8_t *table,
                                             uint32_t offset, uint32_t kind);

// The root table.
EMBER_LOCAL const uint8_t *ember_flat_root(ember_flat_t *flat);

// Item `index` of a vector of tables; a failure if there is none.
EMBER_LOCAL const uint8_t *ember_flat_item(ember_flat_t *flat, ember_vector_t tables,
                                           uint32_t index);

// The union (EValue, Instruction) that is item `index`: its body, and a tag from 1 to
// UNION_MOST. NULL and 1 if it is malformed. flat_union() is the same inline, for hot
// paths.
#define UNION_FIELDS (FLAT(0, FLAT_U8) | FLAT(1, FLAT_TABLE))
enum { UNION_TAG, UNION_BODY, UNION_MOST = 11 };
EMBER_LOCAL const uint8_t *ember_flat_union(ember_flat_t *flat, ember_vector_t tables,
                                            uint32_t index, uint32_t *tag);

// The layout of a union that is neither of the two cached ones. No table has it if it
// lacks the tag or the body.
EMBER_LOCAL __attribute__((noinline)) const ember_layout_t *
ember_flat_next_union(ember_flat_t *flat, uint32_t vtable);

EMBER_INLINE const uint8_t *flat_union(ember_flat_t *flat, ember_vector_t tables,
                                       uint32_t index, uint32_t *tag) {
    if (index < vector_count(tables)) {
        const uint8_t *at = vector_items(tables) + 4 * (size_t)index;
        if (flat_is_inside(flat, at)) {
            const uint8_t *table = at + load_u32(at);
            const uint32_t vtable = flat_vtable(flat, table);
            const ember_layout_t *layout = flat->layouts[LAYOUT_UNION];
            if (vtable != layout->vtable && vtable != (++layout)->vtable) {
                layout = ember_flat_next_union(flat, vtable);
            }
            if (flat_has_fields(flat, table, layout)) {
                *tag = table[layout->offsets[UNION_TAG]];
                at = table + layout->offsets[UNION_BODY];
                if (*tag - 1 < UNION_MOST && flat_is_inside(flat, at)) {
                    return at + load_u32(at);
                }
            }
        }
    }
    *tag = 1;
    return ember_flat_malformed(flat);
}

// Compares `string` with the `length` bytes at `text`; a prefix comes first.
EMBER_LOCAL int ember_flat_compare(ember_vector_t string, const void *text,
                                   uint32_t length);

// The first of `tables` whose field 0 is the string `key`, or NULL. Fast if they are
// sorted by that field; if not, of several any may be found.
EMBER_LOCAL const uint8_t *ember_flat_find(ember_flat_t *flat, ember_vector_t tables,
                                           const char *key, uint32_t key_length);

// Whether `string` equals the NUL-terminated `text`.
EMBER_LOCAL bool ember_flat_is(ember_vector_t string, const char *text);

#endif // EMBER_FLAT_H
