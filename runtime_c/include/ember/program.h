// SPDX-License-Identifier: Apache-2.0
// A verified, immutable view of an ExecuTorch program (.pte, schema ET12).
//
// Lifetime  the bytes must outlive the program and its methods; nothing is copied,
//           constants are used where they lie.
// Threads   immutable once opened: any number of methods may share it.
// Trust     the bytes are untrusted. ember_program_open() checks every offset,
//           count, index, size and kind of what the runtime uses, so that all
//           later reading may rely on them.
#ifndef EMBER_PROGRAM_H
#define EMBER_PROGRAM_H

#include "ember/arena.h"
#include "ember/status.h"
#include "ember/value.h"

typedef struct ember_program ember_program_t;

// How external data (a .ptd) is found; see data.h.
typedef struct ember_data_map ember_data_map_t;
typedef ember_status_t (*ember_find_data_fn)(const ember_data_map_t *maps,
                                             uint32_t count, const char *key,
                                             uint32_t key_length, ember_bytes_t *data,
                                             const uint8_t **layout);

// Read-only to the application.
struct ember_program {
    ember_bytes_t flat;     // the FlatBuffer, extended header included
    ember_bytes_t segments; // all segment data; empty without extended header
    const uint8_t *root;    // the Program table
    const ember_data_map_t *maps;
    uint32_t map_count;
    ember_find_data_fn find_data; // NULL: no external data
};

// Opens and verifies `size` bytes at `data`, aligned to EMBER_ALIGN.
//
// Returns EMBER_OK, or
//   EMBER_BAD_PROGRAM   malformed, truncated or contradictory bytes
//   EMBER_UNSUPPORTED   another schema version, dtype or device
//   EMBER_BAD_ARGUMENT  data is NULL or not aligned
EMBER_MUST_USE ember_status_t ember_program_open(ember_program_t *program,
                                                 const void *data, size_t size,
                                                 ember_error_t *err);

uint32_t ember_program_method_count(const ember_program_t *program);

// Name of method `index`, not NUL-terminated by promise; NULL past the end.
const char *ember_program_method_name(const ember_program_t *program, uint32_t index,
                                      uint32_t *length);

// Data stored under `key` in the program, or in its data files. NOT_FOUND.
EMBER_MUST_USE ember_status_t ember_program_named_data(const ember_program_t *program,
                                                       const char *key,
                                                       uint32_t key_length,
                                                       ember_bytes_t *data);

// What a method needs and takes, without loading it.
typedef struct ember_method_meta {
    const ember_program_t *program;
    const uint8_t *plan; // the ExecutionPlan table
    uint32_t value_count;
    uint32_t input_count;
    uint32_t output_count;
    uint32_t instruction_count;
    uint32_t planned_count; // planned memories; ids are 1 .. planned_count
} ember_method_meta_t;

// Finds the method called `name` (NUL-terminated); NOT_FOUND.
EMBER_MUST_USE ember_status_t ember_method_meta(const ember_program_t *program,
                                                const char *name,
                                                ember_method_meta_t *meta,
                                                ember_error_t *err);

// Bytes of planned memory `id`, 1 .. planned_count; SIZE_MAX when a size_t is too
// small.
size_t ember_method_meta_planned_size(const ember_method_meta_t *meta, uint32_t id);

// Input or output `index` as declared: kind, and for tensors dtype, rank, dim_order
// and sizes (upper bounds when dynamic); data is NULL. `planned`: true when the
// tensor has memory in the plan. BAD_ARGUMENT past the end.
EMBER_MUST_USE ember_status_t ember_method_meta_input(const ember_method_meta_t *meta,
                                                      uint32_t index,
                                                      ember_value_t *value,
                                                      bool *planned);
EMBER_MUST_USE ember_status_t ember_method_meta_output(const ember_method_meta_t *meta,
                                                       uint32_t index,
                                                       ember_value_t *value,
                                                       bool *planned);

#endif // EMBER_PROGRAM_H
