// SPDX-License-Identifier: Apache-2.0
// External tensor data: .ptd files (schema FT01), checked like programs.
#ifndef EMBER_DATA_H
#define EMBER_DATA_H

#include "ember/program.h"

EMBER_C_BEGIN

struct ember_data_map {
    ember_bytes_t flat;
    ember_bytes_t segments;
    ember_field_t root[2]; // of the FlatTensor table: DATA_* of src/schema.h
};

// Opens a .ptd. Same errors as ember_program_open().
EMBER_MUST_USE ember_status_t ember_data_map_open(ember_data_map_t *map,
                                                  const void *data, size_t size,
                                                  ember_error_t *err);

// Lends `count` data files to `program`, before its methods are loaded. Both the
// array and the files must outlive the program.
void ember_program_attach(ember_program_t *program, const ember_data_map_t *maps,
                          uint32_t count);

EMBER_C_END

#endif // EMBER_DATA_H
