// SPDX-License-Identifier: Apache-2.0
// An immutable view of an ExecuTorch program (.pte, schema ET12).
//
// Lifetime  the bytes must outlive the program and its methods; nothing is copied,
//           constants are used in place.
// Threads   immutable once opened: any number of methods may share it.
// Trust     the bytes are untrusted. ember_program_open() checks the header and the
//           root table; everything else, as in loading, is checked before it is used.
#ifndef EMBER_PROGRAM_H
#define EMBER_PROGRAM_H

#include "ember/arena.h"
#include "ember/status.h"
#include "ember/value.h"

EMBER_C_BEGIN

typedef struct ember_program ember_program_t;

// How external data (a .ptd) is found; see data.h. `tensor` may be NULL; otherwise the
// data must have its layout, if the file states one.
typedef struct ember_data_map ember_data_map_t;
typedef ember_status_t (*ember_find_data_fn)(const ember_program_t *program,
                                             const char *key, uint32_t key_length,
                                             const ember_tensor_t *tensor,
                                             ember_bytes_t *data);

// Internal: a field of a table in the file, and its reader; see src/flat.h.
typedef union ember_field {
    uint32_t number;
    const uint8_t *at;
} ember_field_t;

typedef struct ember_layout {
    uint32_t vtable;     // its position
    uint32_t most;       // the last position of a table that has the fields; 0: none
    uint16_t offsets[8]; // of fields in the table; 0: absent
} ember_layout_t;

enum { EMBER_LAYOUTS = 7 };

typedef struct ember_flat {
    const uint8_t *begin;
    const uint8_t *last;                      // four bytes before the end
    ember_status_t status;                    // EMBER_OK, or the first failure
    uint32_t tag;                             // of the instruction read last
    ember_error_t *err;                       // receives its message; may be NULL
    ember_layout_t layouts[EMBER_LAYOUTS][2]; // LAYOUT_* of src/flat.h
} ember_flat_t;

// Internal: where the data of a program's buffers is; see src/plan.h.
typedef struct ember_offsets {
    const uint8_t *items;  // a vector of u64: the data of each, in the segment
    ember_bytes_t segment; // NULL: there is none
} ember_offsets_t;

// Read-only to the application.
struct ember_program {
    ember_bytes_t flat;     // the FlatBuffer, extended header included
    ember_bytes_t segments; // all segment data; empty without extended header
    ember_field_t root[7];  // of the Program table: PROGRAM_* of src/schema.h
    const ember_data_map_t *maps;
    uint32_t map_count;
    ember_find_data_fn find_data; // NULL: no external data
};

// Opens `size` bytes at `data`, aligned to EMBER_ALIGN. The contents of methods,
// segments and named data are checked when they are used.
//
// Returns EMBER_OK, or
//   EMBER_BAD_PROGRAM   the header or the root table is malformed or truncated
//   EMBER_UNSUPPORTED   another schema version
//   EMBER_BAD_ARGUMENT  data is NULL or unaligned
EMBER_MUST_USE ember_status_t ember_program_open(ember_program_t *program,
                                                 const void *data, size_t size,
                                                 ember_error_t *err);

uint32_t ember_program_method_count(const ember_program_t *program);

// Name of method `index`, not guaranteed to be NUL-terminated; NULL past the end.
const char *ember_program_method_name(const ember_program_t *program, uint32_t index,
                                      uint32_t *length);

// Data stored under `key` in the program or its data files. NOT_FOUND if no file has
// the key; BAD_PROGRAM if an entry that was read is malformed, or the data is past the
// end.
EMBER_MUST_USE ember_status_t ember_program_named_data(const ember_program_t *program,
                                                       const char *key,
                                                       uint32_t key_length,
                                                       ember_bytes_t *data);

// The memory and inputs that a method needs, without loading it.
typedef struct ember_method_meta {
    const ember_program_t *program;
    ember_field_t plan[8]; // of the ExecutionPlan table: PLAN_* of src/schema.h
    const uint8_t *instructions;
    uint32_t value_count;
    uint32_t input_count;
    uint32_t output_count;
    uint32_t instruction_count;
    uint32_t planned_count; // planned memories; ids are 1 .. planned_count
} ember_method_meta_t;

// Finds the method called `name` (NUL-terminated). NOT_FOUND if there is none,
// BAD_PROGRAM if its plan is malformed, UNSUPPORTED if it needs memory of a device.
EMBER_MUST_USE ember_status_t ember_method_meta(const ember_program_t *program,
                                                const char *name,
                                                ember_method_meta_t *meta,
                                                ember_error_t *err);

// Bytes of planned memory `id`, 1 .. planned_count; SIZE_MAX if they exceed a size_t.
size_t ember_method_meta_planned_size(const ember_method_meta_t *meta, uint32_t id);

// Input or output `index` as declared: kind, and for tensors dtype, rank, dim_order and
// sizes (upper bounds if dynamic); data is NULL. `planned`: true if the tensor has
// memory in the plan. BAD_ARGUMENT past the end, BAD_PROGRAM or UNSUPPORTED if it is
// malformed or of a kind that loading refuses as well.
EMBER_MUST_USE ember_status_t ember_method_meta_input(const ember_method_meta_t *meta,
                                                      uint32_t index,
                                                      ember_value_t *value,
                                                      bool *planned);
EMBER_MUST_USE ember_status_t ember_method_meta_output(const ember_method_meta_t *meta,
                                                       uint32_t index,
                                                       ember_value_t *value,
                                                       bool *planned);

EMBER_C_END

#endif // EMBER_PROGRAM_H
