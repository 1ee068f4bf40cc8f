// SPDX-License-Identifier: Apache-2.0
// Accessors of flat.h by their contracts, for proofs of what calls them: each requires
// what flat_accessors.c and flat_layouts.c assume, and gives any of what they show.
#ifndef EMBER_PROOFS_FLAT_CONTRACT_H
#define EMBER_PROOFS_FLAT_CONTRACT_H

#include "any.h"
#include "status.c"

static const uint32_t nothing[2];

static bool is_empty_vector(ember_vector_t vector) {
    return vector == (const uint8_t *)nothing;
}

static const uint8_t *empty_vector(void) {
    return (const uint8_t *)nothing;
}

void ember_flat_note(ember_flat_t *flat, ember_status_t status, const char *message) {
    (void)message;
    if (flat->status == EMBER_OK) {
        flat->status = status;
    }
}

const uint8_t *ember_flat_malformed(ember_flat_t *flat) {
    flat_fail(flat, EMBER_BAD_PROGRAM, "");
    return NULL;
}

static void may_fail(ember_flat_t *flat) {
    if (nondet_bool()) {
        (void)ember_flat_malformed(flat);
    }
}

static const uint8_t *table_or_failure(ember_flat_t *flat) {
    return nondet_bool() ? any_table() : ember_flat_malformed(flat);
}

const uint16_t *ember_flat_absent(ember_flat_t *flat, const uint8_t *table) {
    static const uint16_t absent[9];
    if (table != NULL) {
        (void)ember_flat_malformed(flat);
    }
    return absent;
}

const uint16_t *ember_flat_layout(ember_flat_t *flat, const uint8_t *table,
                                  uint32_t kinds, ember_layout_t *layouts) {
    static uint16_t offsets[9];
    if (table == NULL) {
        return ember_flat_absent(flat, table);
    }
    REQUIRE(is_table(table));
    (void)layouts;
    may_fail(flat);
    for (uint32_t i = 0; i < 9; i++) {
        offsets[i] = nondet_uint16();
    }
    ASSUME(all_fit(place_of(table), offsets, kinds));
    return offsets;
}

const ember_layout_t *ember_flat_next_layout(ember_flat_t *flat, uint32_t vtable,
                                             uint32_t kinds, ember_layout_t *layouts) {
    (void)flat;
    (void)vtable;
    layouts[1] = layouts[0];
    any_layout(&layouts[0], kinds);
    return layouts;
}

const uint8_t *ember_flat_follow(ember_flat_t *flat, const uint8_t *at) {
    proof_readable(at, 4);
    return table_or_failure(flat);
}

const ember_layout_t *ember_flat_next_union(ember_flat_t *flat, uint32_t vtable) {
    return ember_flat_next_layout(flat, vtable, UNION_FIELDS,
                                  flat->layouts[LAYOUT_UNION]);
}

ember_vector_t ember_flat_vector(ember_flat_t *flat, const uint8_t *table,
                                 uint32_t offset, uint32_t kind) {
    REQUIRE(offset == 0 || (is_table(table) && fits(place_of(table), offset, kind)));
    may_fail(flat);
    return any_vector(kind);
}

static ember_field_t any_field_of(uint32_t kind) {
    ember_field_t field;
    if (kind == FLAT_U8) {
        field.number = nondet_uint8();
    } else if (kind == FLAT_U32) {
        field.number = nondet_uint32();
    } else if (kind == FLAT_TABLE) {
        field.at = nondet_bool() ? any_table() : NULL;
    } else if (kind == FLAT_U64) {
        field.at = nondet_bool() ? any_table() : empty_vector();
        ASSUME(is_field(field, kind));
    } else {
        field.at = any_vector(kind);
    }
    return field;
}

void ember_flat_read(ember_flat_t *flat, const uint8_t *table, uint32_t kinds,
                     ember_field_t *fields) {
    REQUIRE(table == NULL || is_table(table));
    may_fail(flat);
    for (; kinds != 0; kinds >>= 3) {
        if ((kinds & 7) != 0) {
            *fields++ = any_field_of(kinds & 7);
        }
    }
}

ember_field_t ember_flat_field(ember_flat_t *flat, const uint8_t *table,
                               uint32_t kind) {
    while ((kind & 7) == 0) {
        kind >>= 3;
    }
    REQUIRE(table == NULL || is_table(table));
    may_fail(flat);
    return any_field_of(kind);
}

const uint8_t *ember_flat_item(ember_flat_t *flat, ember_vector_t tables,
                               uint32_t index) {
    REQUIRE(is_vector(tables, FLAT_VEC4));
    (void)index;
    return table_or_failure(flat);
}

size_t ember_flat_size(const uint8_t *at) {
    proof_readable(at, 8);
    return nondet_size();
}

#endif // EMBER_PROOFS_FLAT_CONTRACT_H
