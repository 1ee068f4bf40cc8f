// SPDX-License-Identifier: Apache-2.0
// Reading a FlatBuffer in place: first ember_flat_verify(), then unchecked reads.
//
// A table is a pointer to its first byte; a vector is a pointer to its count, with the
// items behind. Absent fields read as zero, NULL or an empty vector. All fields of
// ember's schemas default to zero.
#ifndef EMBER_FLAT_H
#define EMBER_FLAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ember/arena.h"
#include "ember/status.h"

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

// 64-bit scalars are only sure to lie at multiples of 4 once the file is in memory.
static inline uint64_t load_u64(const uint8_t *at) {
    return load_u32(at) | (uint64_t)load_u32(at + 4) << 32;
}

// Where an offset points.
static inline const uint8_t *load_ref(const uint8_t *at) {
    return at + load_u32(at);
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

// Item `index` of a vector of tables.
static inline const uint8_t *vector_table(ember_vector_t vector, uint32_t index) {
    return load_ref(vector_items(vector) + 4 * (size_t)index);
}

// The u64 at `at` as a size; what a size_t can't hold becomes SIZE_MAX, which is more
// than any memory has.
EMBER_LOCAL size_t ember_flat_size(const uint8_t *at);

// Field `id` of `table`, the same way.
EMBER_LOCAL size_t ember_flat_size_field(const uint8_t *table, uint32_t id);

// Item `index` of a vector of u64, the same way.
static inline size_t vector_size(ember_vector_t vector, uint32_t index) {
    return ember_flat_size(vector_items(vector) + 8 * (size_t)index);
}

// Where field `id` of `table` lies, or NULL when it is absent.
EMBER_LOCAL const uint8_t *ember_flat_field(const uint8_t *table, uint32_t id);

// The first `count` fields at once: fields[id] is where field `id` lies, or NULL.
EMBER_LOCAL void ember_flat_fields(const uint8_t *table, const uint8_t **fields,
                                   uint32_t count);

EMBER_LOCAL uint32_t ember_flat_u8(const uint8_t *table, uint32_t id);
EMBER_LOCAL uint32_t ember_flat_u32(const uint8_t *table, uint32_t id);
EMBER_LOCAL const uint8_t *ember_flat_table(const uint8_t *table, uint32_t id);
EMBER_LOCAL ember_vector_t ember_flat_vector(const uint8_t *table, uint32_t id);

// Is `string` the `length` bytes at `text`?
EMBER_LOCAL bool ember_flat_equals(ember_vector_t string, const void *text,
                                   uint32_t length);

// The table of `tables` whose string 0 is `key`, or NULL.
EMBER_LOCAL const uint8_t *ember_flat_find(ember_vector_t tables, const char *key,
                                           uint32_t key_length);

// Is string `id` of `table` the NUL-terminated `text`?
EMBER_LOCAL bool ember_flat_is(const uint8_t *table, uint32_t id, const char *text);

// --- structure ---------------------------------------------------------------

// What a field holds. Values up to 8 are the size of a scalar in bytes.
enum {
    FLAT_U8 = 1,
    FLAT_U32 = 4,
    FLAT_U64 = 8,
    FLAT_VEC1 = 16, // a vector of 1-byte items, or a string
    FLAT_VEC4 = 17,
    FLAT_VEC8 = 18,
    FLAT_TABLE = 19,  // a table of type `type`
    FLAT_TABLES = 20, // a vector of such
    FLAT_UNION = 21,  // FLAT_UNION + n: one of n tables, whose types follow each other
                      // from `type` on; the next rule is that of the tag
};

// FLAT_FIRST in `id` marks the first rule of a type.
enum { FLAT_FIRST = 128, FLAT_MOST_TYPES = 32, FLAT_MOST_RULES = 80 };

typedef struct ember_flat_rule {
    uint8_t id;
    uint8_t kind;
    uint8_t type;
} ember_flat_rule_t;

// A schema: the rules of all its types, in the order of their numbers, references
// before scalars within a type; type 0 is the root. A lone FLAT_FIRST ends the list.
// Fields without a rule are never read.
typedef struct ember_flat_schema {
    const ember_flat_rule_t *rules;
    uint32_t type_count; // at most FLAT_MOST_TYPES
} ember_flat_schema_t;

// Checks every table, vector and string that the schema's rules reach, so that the
// functions above are safe. `flat` must be aligned to 4 and is at most INT32_MAX
// long. Returns the root table, or NULL when the bytes are malformed.
EMBER_LOCAL const uint8_t *ember_flat_verify(ember_bytes_t flat,
                                             const ember_flat_schema_t *schema);

#endif // EMBER_FLAT_H
