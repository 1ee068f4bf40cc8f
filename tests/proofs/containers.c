// SPDX-License-Identifier: Apache-2.0
// Opening programs and data files, over the contracts of flat.h's accessors.
#include "flat_contract.h"

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
    flat->err = err;
    if (bytes->size < LEAST_BYTES) {
        (void)ember_flat_malformed(flat);
    }
}

const uint8_t *ember_flat_root(ember_flat_t *flat) {
    return table_or_failure(flat);
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
