// SPDX-License-Identifier: Apache-2.0
// Any file, and every state that a reader of it can be in: what the accessors of
// flat.h require, and what they promise.
#ifndef EMBER_PROOFS_ANY_H
#define EMBER_PROOFS_ANY_H

#include "flat.h"

#ifndef PROOF_BYTES
#define PROOF_BYTES 64 // of a file, at most
#endif
enum { LEAST_BYTES = 8, SENTENCES = 1 };

static uint8_t *file_data; // any bytes
static size_t file_size;   // any size from LEAST_BYTES to PROOF_BYTES

static void any_file(void) {
    file_size = nondet_size();
    ASSUME(file_size >= LEAST_BYTES && file_size <= PROOF_BYTES);
    file_data = malloc(file_size);
}

static bool in_file(const uint8_t *at) {
    return __ESBMC_same_object(at, file_data);
}

static size_t place_of(const uint8_t *at) {
    return (size_t)__ESBMC_POINTER_OFFSET(at);
}

static uint32_t field_size(uint32_t kind) {
    return kind == FLAT_U8 ? 1 : kind == FLAT_U64 ? 8 : 4;
}

// A place of a table or of a vector: aligned, four bytes of it in the file, and behind
// the four bytes at the beginning that lead to the root.
static bool is_table(const uint8_t *at) {
    return in_file(at) && place_of(at) % 4 == 0 && place_of(at) >= 4 &&
           place_of(at) <= file_size - 4;
}

static bool is_empty_vector(ember_vector_t vector); // by who defines it

static bool is_vector(ember_vector_t vector, uint32_t kind) {
    return is_empty_vector(vector) ||
           (is_table(vector) &&
            load_u32(vector) <= (file_size - 4 - place_of(vector)) >> (kind & 3));
}

// Whether the field at an offset is in the file, for a table at `place`.
static bool fits(size_t place, uint32_t offset, uint32_t kind) {
    const uint32_t size = field_size(kind);
    return offset == 0 ||
           ((size == 1 || offset % 4 == 0) && place + offset + size <= file_size);
}

static bool all_fit(size_t place, const uint16_t *offsets, uint32_t kinds) {
    for (uint32_t i = 0; i < 10; i++, kinds >>= 3) {
        if ((kinds & 7) != 0 && !fits(place, *offsets++, kinds & 7)) {
            return false;
        }
    }
    return true;
}

// What a reader may rely on of a layout that it kept.
static bool is_layout(const ember_layout_t *layout, uint32_t kinds) {
    return layout->most == 0 || (layout->most <= file_size - 4 &&
                                 all_fit(layout->most, layout->offsets, kinds));
}

static bool is_field(ember_field_t field, uint32_t kind) {
    switch (kind) {
    case FLAT_U8:
        return field.number <= UINT8_MAX;
    case FLAT_U32:
        return true;
    case FLAT_TABLE:
        return field.at == NULL || is_table(field.at);
    case FLAT_U64:
        return is_empty_vector(field.at) ||
               (in_file(field.at) && place_of(field.at) % 4 == 0 &&
                place_of(field.at) <= file_size - 8);
    default:
        return is_vector(field.at, kind);
    }
}

// --- any of them -------------------------------------------------------------------

static const uint8_t *any_table(void) {
    const size_t place = nondet_size();
    ASSUME(place >= 4 && place <= file_size - 4 && place % 4 == 0);
    return file_data + place;
}

static const uint8_t *empty_vector(void);

static ember_vector_t any_vector(uint32_t kind) {
    const ember_vector_t vector = nondet_bool() ? empty_vector() : any_table();
    ASSUME(is_vector(vector, kind));
    return vector;
}

static void any_layout(ember_layout_t *layout, uint32_t kinds) {
    layout->vtable = nondet_uint32();
    layout->most = nondet_uint32();
    for (uint32_t i = 0; i < 8; i++) {
        layout->offsets[i] = nondet_uint16();
    }
    ASSUME(is_layout(layout, kinds));
}

static ember_error_t some_error;

// A reader in any state, but for its layouts.
static void any_reader(ember_flat_t *flat) {
    flat->begin = file_data;
    flat->last = file_data + (file_size - 4);
    flat->status = (ember_status_t)nondet_int32();
    ASSUME(flat->status <= EMBER_OK && flat->status >= EMBER_MISMATCH);
    flat->err = nondet_bool() ? &some_error : NULL;
}

static void any_layouts(ember_flat_t *flat, uint32_t group, uint32_t kinds) {
    any_layout(&flat->layouts[group][0], kinds);
    any_layout(&flat->layouts[group][1], kinds);
}

static bool are_layouts(const ember_flat_t *flat, uint32_t group, uint32_t kinds) {
    return is_layout(&flat->layouts[group][0], kinds) &&
           is_layout(&flat->layouts[group][1], kinds);
}

// The reader reads the same file as before, and a failure stays.
static bool is_reader(const ember_flat_t *flat, ember_status_t before) {
    return flat->begin == file_data && flat->last == file_data + (file_size - 4) &&
           flat->status <= EMBER_OK && (before == EMBER_OK || flat->status == before);
}

#endif // EMBER_PROOFS_ANY_H
