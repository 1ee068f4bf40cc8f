// SPDX-License-Identifier: Apache-2.0
// Blobs of delegates that a loaded method no longer needs.
#include "method_state.h"

static bool overlap(const ember_bytes_t *a, const ember_bytes_t *b) {
    const uintptr_t first = (uintptr_t)a->data;
    const uintptr_t other = (uintptr_t)b->data;
    return first < other + b->size && other < first + a->size;
}

// The blob of delegate `index`; empty if it has none.
static ember_bytes_t blob_of(ember_flat_t *flat, const ember_method_t *method,
                             uint32_t index) {
    ember_field_t fields[2];
    ember_bytes_t blob = {NULL, 0};
    const uint8_t *table =
        ember_flat_item(flat, method->meta.plan[PLAN_DELEGATES].at, index);
    ember_flat_read(flat, table, DELEGATE_FIELDS, fields);
    (void)ember_delegate_blob(flat, method->meta.program, fields[DELEGATE_DATA].at,
                              &blob);
    return blob;
}

// Whether a segment, whose number is in `field` of a table, contains some of the bytes.
static bool is_in_segment(ember_flat_t *flat, const ember_program_t *program,
                          const uint8_t *table, uint32_t fields, uint32_t field,
                          const ember_bytes_t *bytes) {
    ember_field_t read[2];
    ember_bytes_t segment = {NULL, 0};
    if (table == NULL) {
        return false;
    }
    ember_flat_read(flat, table, fields, read);
    return ember_program_segment(flat, program, read[field].number, &segment) &&
           overlap(&segment, bytes);
}

// Whether the program itself uses some of the bytes for something else.
static bool is_used(ember_flat_t *flat, const ember_program_t *program,
                    const ember_bytes_t *bytes) {
    const ember_vector_t states = program->root[PROGRAM_MUTABLE_SEGMENTS].at;
    const ember_vector_t named = program->root[PROGRAM_NAMED_DATA].at;
    bool used = overlap(&program->flat, bytes) ||
                is_in_segment(flat, program, program->root[PROGRAM_CONSTANT_SEGMENT].at,
                              OFFSETS_FIELDS, OFFSETS_SEGMENT, bytes);
    for (uint32_t i = 0; !used && i < vector_count(states); i++) {
        used = is_in_segment(flat, program, ember_flat_item(flat, states, i),
                             OFFSETS_FIELDS, OFFSETS_SEGMENT, bytes);
    }
    for (uint32_t i = 0; !used && i < vector_count(named); i++) {
        used = is_in_segment(flat, program, ember_flat_item(flat, named, i),
                             NAMED_FIELDS, NAMED_SEGMENT, bytes);
    }
    return used;
}

bool ember_method_spare(const ember_method_t *method, uint32_t index,
                        ember_bytes_t *bytes) {
    const ember_program_t *program = method->meta.program;
    *bytes = (ember_bytes_t){NULL, 0};
    const uint32_t count = vector_count(method->meta.plan[PLAN_DELEGATES].at);
    if (method->delegates == NULL || index >= count) {
        return false;
    }
    ember_flat_t flat;
    ember_flat_begin(&flat, &program->flat, NULL);
    const ember_bytes_t blob = blob_of(&flat, method, index);
    bool kept = !method->delegates[index].released || blob.size == 0 ||
                is_used(&flat, program, &blob);
    for (uint32_t i = 0; !kept && i < count; i++) {
        const ember_bytes_t other = blob_of(&flat, method, i);
        kept = !method->delegates[i].released && overlap(&other, &blob);
    }
    if (!kept && flat.status == EMBER_OK) {
        *bytes = blob;
    }
    return true;
}
