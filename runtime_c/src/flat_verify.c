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
    uint32_t left;
    uint32_t type;
} run_t;

typedef struct walk {
    const uint8_t *begin;
    const uint8_t *end;
    uint32_t credit; // tables that may still be visited
    uint32_t depth;
    run_t runs[MOST_RUNS];
    const uint8_t *seen[FLAT_MOST_TYPES]; // per type: the vtable checked last
    const ember_flat_rule_t
        *rules[FLAT_MOST_TYPES + 1]; // first of each type, and the end
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
    walk->runs[walk->depth++] = (run_t){at, left, type};
    return true;
}

static uint32_t field_of(const ember_flat_rule_t *rule) {
    return rule->id & (FLAT_FIRST - 1u);
}

// Checks that every ruled field of `type` lies inside its table.
static bool check_fields(const walk_t *walk, const uint8_t *vtable, uint32_t type) {
    const uint32_t size = load_u16(vtable);
    const uint32_t table_size = load_u16(vtable + 2);
    const ember_flat_rule_t *rule = walk->rules[type];
    for (; rule != walk->rules[type + 1]; rule++) {
        const uint32_t at = 4 + 2 * field_of(rule);
        const uint32_t offset = at < size ? load_u16(vtable + at) : 0;
        const uint32_t need = rule->kind <= FLAT_U64 ? rule->kind : 4;
        const uint32_t align = need < 4 ? need : 4;
        if (offset != 0 &&
            (offset < 4 || offset + need > table_size || (offset & (align - 1)) != 0)) {
            return false;
        }
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
    const uint8_t *vtable = walk->begin + at;
    if (vtable != walk->seen[type]) {
        if ((at & 1) != 0 || load_u16(vtable) < 4 || (load_u16(vtable) & 1) != 0 ||
            load_u16(vtable) > room(walk, vtable) ||
            !check_fields(walk, vtable, type)) {
            return false;
        }
        walk->seen[type] = vtable;
    }
    return load_u16(vtable + 2) <= room(walk, table);
}

// Checks one reference field at `at`, or puts what it leads to on the stack.
static bool check_reference(walk_t *walk, const uint8_t *table,
                            const ember_flat_rule_t *rule, const uint8_t *at) {
    switch (rule->kind) {
    case FLAT_VEC1:
        return check_vector(walk, at, 1);
    case FLAT_VEC4:
        return check_vector(walk, at, 4);
    case FLAT_VEC8:
        return check_vector(walk, at, 8);
    case FLAT_TABLE:
        return push(walk, at, 1, rule->type);
    case FLAT_TABLES:
        if (!check_vector(walk, at, 4)) {
            return false;
        }
        return push(walk, load_ref(at) + 4, load_u32(load_ref(at)), rule->type);
    default: { // FLAT_UNION
        const uint32_t tag = ember_flat_u8(table, field_of(rule) - 1);
        return tag - 1 < (uint32_t)rule->kind - FLAT_UNION &&
               push(walk, at, 1, rule->type + tag - 1);
    }
    }
}

static bool check_references(walk_t *walk, const uint8_t *table, uint32_t type) {
    const uint8_t *vtable = table - (int32_t)load_u32(table);
    const uint32_t size = load_u16(vtable);
    const ember_flat_rule_t *rule = walk->rules[type];
    for (; rule != walk->rules[type + 1] && rule->kind > FLAT_U64; rule++) {
        const uint32_t at = 4 + 2 * field_of(rule);
        const uint32_t offset = at < size ? load_u16(vtable + at) : 0;
        if (offset == 0 ? rule->kind >= FLAT_UNION
                        : !check_reference(walk, table, rule, table + offset)) {
            return false;
        }
    }
    return true;
}

static void index_rules(walk_t *walk, const ember_flat_schema_t *schema) {
    const ember_flat_rule_t *rule = schema->rules;
    for (uint32_t type = 0; type <= schema->type_count; rule++) {
        if ((rule->id & FLAT_FIRST) != 0) {
            walk->rules[type++] = rule;
        }
    }
}

const uint8_t *ember_flat_verify(ember_bytes_t flat,
                                 const ember_flat_schema_t *schema) {
    walk_t walk = {
        .begin = flat.data,
        .end = flat.data + flat.size,
        .credit = (uint32_t)(flat.size / 4),
        .depth = 1,
        .runs = {{flat.data, 1, 0}},
    };
    if (flat.size < 8 || flat.size > INT32_MAX) {
        return NULL;
    }

    index_rules(&walk, schema);
    while (walk.depth > 0) {
        run_t *run = &walk.runs[walk.depth - 1];
        if (run->left == 0) {
            walk.depth--;
            continue;
        }
        const uint8_t *table = follow(&walk, run->at);
        const uint32_t type = run->type;
        run->at += 4;
        run->left--;
        if (table == NULL || walk.credit-- == 0 || !check_table(&walk, table, type) ||
            !check_references(&walk, table, type)) {
            return NULL;
        }
    }
    return load_ref(flat.data);
}
