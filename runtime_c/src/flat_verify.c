// SPDX-License-Identifier: Apache-2.0
// Structural verification of a FlatBuffer against a schema of rules.
//
// Pending work is a small stack of runs: "`left` offsets from `at` on, each to a table
// of `type`". A table's references push runs, so depth is bounded by the schema and
// nothing recurses. Offsets only point forward and every table visited is paid for
// with 4 bytes of the buffer, so a file that shares tables to make the walk explode is
// refused.
#include "flat.h"

enum { MOST_RUNS = 24 };

typedef struct run {
    const uint8_t *at;
    uint32_t left; // at least 1
    uint32_t type;
} run_t;

typedef struct walk {
    const uint8_t *begin;
    const uint8_t *end;
    const ember_flat_rule_t *rules;
    uint32_t credit; // tables that may still be visited
    uint32_t depth;
    run_t runs[MOST_RUNS];
    // Tables of one type mostly share a vtable: where the last one lies + 1, per type,
    // and the fields' offsets in it, per rule.
    uint32_t vtable[FLAT_MOST_TYPES];
    uint8_t first[FLAT_MOST_TYPES + 1]; // rule of each type, and the end
    uint16_t offset[FLAT_MOST_RULES];
} walk_t;

static uint32_t room(const walk_t *walk, const uint8_t *at) {
    return (uint32_t)(walk->end - at);
}

// Follows the offset at `at`, which is in the buffer. The target is aligned to 4 and
// has at least 4 bytes; NULL otherwise.
static const uint8_t *follow(const walk_t *walk, const uint8_t *at) {
    const uint32_t offset = load_u32(at);
    if (offset < 4 || offset > room(walk, at) - 4) {
        return NULL;
    }
    return ((uintptr_t)(at + offset) & 3) == 0 ? at + offset : NULL;
}

// Checks a vector of items of `size` bytes behind the offset at `at`.
static bool check_vector(const walk_t *walk, const uint8_t *at, uint32_t size) {
    const uint8_t *vector = follow(walk, at);
    return vector != NULL && load_u32(vector) <= (room(walk, vector) - 4) / size;
}

static bool push(walk_t *walk, const uint8_t *at, uint32_t left, uint32_t type) {
    if (walk->depth == MOST_RUNS) {
        return false;
    }
    run_t *run = &walk->runs[walk->depth++];
    run->at = at;
    run->left = left;
    run->type = type;
    return true;
}

// Checks a vtable that no table of `type` had before: every ruled field lies inside
// its table. Notes where.
static bool check_vtable(walk_t *walk, const uint8_t *vtable, uint32_t type) {
    const uint32_t size = load_u16(vtable);
    const uint32_t table_size = load_u16(vtable + 2);
    if (size < 4 || (size & 1) != 0 || size > room(walk, vtable)) {
        return false;
    }
    for (uint32_t i = walk->first[type]; i < walk->first[type + 1]; i++) {
        const ember_flat_rule_t *rule = &walk->rules[i];
        const uint32_t at = 4 + 2 * (rule->id & (FLAT_FIRST - 1u));
        const uint32_t offset = at < size ? load_u16(vtable + at) : 0;
        const uint32_t need = rule->kind <= FLAT_U64 ? rule->kind : 4;
        if (offset != 0 && (offset < 4 || offset + need > table_size ||
                            (need > FLAT_U8 && (offset & 3) != 0))) {
            return false;
        }
        walk->offset[i] = (uint16_t)offset;
    }
    return true;
}

// Modulo 2^32 a vtable before the buffer or far behind it lies past its end, because
// the buffer is shorter than 2^31.
static bool check_table(walk_t *walk, const uint8_t *table, uint32_t type) {
    const uint32_t at = (uint32_t)(table - walk->begin) - load_u32(table);
    if (at > room(walk, walk->begin) - 4) {
        return false;
    }
    if (at + 1 != walk->vtable[type]) {
        if ((at & 1) != 0 || !check_vtable(walk, walk->begin + at, type)) {
            return false;
        }
        walk->vtable[type] = at + 1;
    }
    return load_u16(walk->begin + at + 2) <= room(walk, table);
}

// Checks one reference field at `at`, or puts what it leads to on the stack. `tag` is
// that of a union.
static bool check_reference(walk_t *walk, const ember_flat_rule_t *rule,
                            const uint8_t *at, uint32_t tag) {
    switch (rule->kind) {
    case FLAT_VEC1:
        return check_vector(walk, at, 1);
    case FLAT_VEC4:
        return check_vector(walk, at, 4);
    case FLAT_VEC8:
        return check_vector(walk, at, 8);
    case FLAT_TABLE:
        return push(walk, at, 1, rule->type);
    case FLAT_TABLES: {
        if (!check_vector(walk, at, 4)) {
            return false;
        }
        const uint8_t *vector = load_ref(at);
        const uint32_t count = load_u32(vector);
        return count == 0 || push(walk, vector + 4, count, rule->type);
    }
    default: // FLAT_UNION
        return tag - 1 < (uint32_t)rule->kind - FLAT_UNION &&
               push(walk, at, 1, rule->type + tag - 1);
    }
}

static bool check_references(walk_t *walk, const uint8_t *table, uint32_t type) {
    const uint32_t end = walk->first[type + 1];
    for (uint32_t i = walk->first[type]; i < end; i++) {
        const ember_flat_rule_t *rule = &walk->rules[i];
        if (rule->kind <= FLAT_U64) {
            break; // only scalars follow
        }
        const uint32_t offset = walk->offset[i];
        // The tag of a union has the next rule.
        const uint32_t tag = rule->kind >= FLAT_UNION && walk->offset[i + 1] != 0
                                 ? table[walk->offset[i + 1]]
                                 : 0;
        if (offset == 0 ? rule->kind >= FLAT_UNION
                        : !check_reference(walk, rule, table + offset, tag)) {
            return false;
        }
    }
    return true;
}

static void index_rules(walk_t *walk, uint32_t type_count) {
    uint32_t type = 0;
    for (uint8_t i = 0; type <= type_count; i++) {
        if ((walk->rules[i].id & FLAT_FIRST) != 0) {
            walk->first[type++] = i;
        }
    }
}

const uint8_t *ember_flat_verify(ember_bytes_t flat,
                                 const ember_flat_schema_t *schema) {
    walk_t walk;
    if (flat.size < 8 || flat.size > INT32_MAX) {
        return NULL;
    }
    memset(&walk, 0, sizeof(walk));
    walk.begin = flat.data;
    walk.end = flat.data + flat.size;
    walk.rules = schema->rules;
    walk.credit = (uint32_t)(flat.size / 4);
    index_rules(&walk, schema->type_count);

    (void)push(&walk, flat.data, 1, 0);
    while (walk.depth > 0) {
        run_t *run = &walk.runs[walk.depth - 1];
        const uint8_t *table = follow(&walk, run->at);
        const uint32_t type = run->type;
        run->at += 4;
        if (--run->left == 0) {
            walk.depth--;
        }
        if (table == NULL || walk.credit-- == 0 || !check_table(&walk, table, type) ||
            !check_references(&walk, table, type)) {
            return NULL;
        }
    }
    return load_ref(flat.data);
}
