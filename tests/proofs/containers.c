// SPDX-License-Identifier: Apache-2.0
// Opening programs and data files, over the contracts of flat.h's accessors.
#include "flat_contract.h"

// Any round of a loop. They keep nothing of those before but the reader, the key before
// and what is left of the credit.
#define CUT_SEGMENTS       uint32_t i = nondet_uint32()
#define CUT_SEGMENTS_AGAIN AGAIN("another segment")
#define CUT_NAMED                                                                      \
    uint32_t i = nondet_uint32();                                                      \
    last = nondet_bool() ? NULL : any_vector(FLAT_VEC1)
#define CUT_NAMED_AGAIN (REQUIRE(is_vector(last, FLAT_VEC1)), AGAIN("another name"))
#define CUT_PLANS                                                                      \
    uint32_t i = nondet_uint32();                                                      \
    credit = nondet_uint32()
#define CUT_PLANS_AGAIN   AGAIN("another plan")
#define CUT_DEVICES       uint32_t k = nondet_uint32()
#define CUT_DEVICES_AGAIN AGAIN("another device")
#define AGAIN(label)      (REACHED(label), ASSUME(false))

#include "container.c"
#include "data.c"
#include "program.c"

static size_t whole_size; // of the file; file_size becomes that of its FlatBuffer

// --- contracts -----------------------------------------------------------------------

// A FlatBuffer that is too short fails here; with a failure, tables beyond its end are
// no matter, so it counts as long enough.
void ember_flat_begin(ember_flat_t *flat, const ember_bytes_t *bytes,
                      ember_error_t *err) {
    REQUIRE(bytes->data == file_data && bytes->size <= whole_size);
    file_size = bytes->size < LEAST_BYTES ? LEAST_BYTES : bytes->size;
    any_reader(flat);
    any_layouts(flat, LAYOUT_SEGMENT, SEGMENT_FIELDS);
    any_layouts(flat, LAYOUT_NAMED, NAMED_FIELDS);
    flat->err = err;
    if (bytes->size < LEAST_BYTES) {
        (void)ember_flat_malformed(flat);
    }
}

const uint8_t *ember_flat_root(ember_flat_t *flat) {
    return table_or_failure(flat);
}

int ember_flat_compare(ember_vector_t string, const void *text, uint32_t length) {
    REQUIRE(is_vector(string, FLAT_VEC1));
    proof_readable(text, length);
    return nondet_int32();
}

void ember_plan_read(ember_flat_t *flat, const ember_program_t *program,
                     const uint8_t *table, ember_method_meta_t *meta) {
    REQUIRE(table == NULL || is_table(table));
    (void)program, (void)meta;
    may_fail(flat);
}

// --- proofs --------------------------------------------------------------------------

static void any_whole_file(void) {
    any_file();
    whole_size = file_size;
}

static void require_parts(const ember_bytes_t *flat, const ember_bytes_t *segments) {
    REQUIRE(flat->data == file_data && flat->size == file_size);
    REQUIRE(flat->size <= whole_size);
    REQUIRE(in_file(segments->data) && segments->size <= whole_size);
    proof_readable(flat->data, flat->size);
    proof_readable(segments->data, segments->size);
}

void prove_data_map_open(void) {
    ember_data_map_t map;
    any_whole_file();
    if (ember_data_map_open(&map, file_data, file_size, NULL) == EMBER_OK) {
        require_parts(&map.flat, &map.segments);
        REQUIRE(is_vector(map.root[DATA_SEGMENTS].at, FLAT_VEC4));
        REQUIRE(is_vector(map.root[DATA_NAMED].at, FLAT_VEC4));
        if (map.segments.size > 1 && map.flat.size < whole_size) {
            REACHED("data file");
        }
    }
}

void prove_program_open(void) {
    ember_program_t program;
    any_whole_file();
    if (ember_program_open(&program, file_data, file_size, NULL) == EMBER_OK) {
        require_parts(&program.flat, &program.segments);
        REQUIRE(is_vector(program.root[PROGRAM_PLANS].at, FLAT_VEC4));
        REQUIRE(is_vector(program.root[PROGRAM_SEGMENTS].at, FLAT_VEC4));
        REQUIRE(is_vector(program.root[PROGRAM_NAMED_DATA].at, FLAT_VEC4));
        REQUIRE(program.maps == NULL);
        if (program.segments.size > 1 && program.flat.size < whole_size) {
            REACHED("program");
        }
    }
}
