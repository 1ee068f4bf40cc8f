// SPDX-License-Identifier: Apache-2.0
// Reading the values of a verified program's method. Internal.
#ifndef EMBER_PLAN_H
#define EMBER_PLAN_H

#include "ember/program.h"
#include "schema.h"

// A Tensor table, read at once.
typedef struct ember_plan_tensor {
    ember_tensor_t tensor;     // as declared; data is NULL
    ember_vector_t order;      // dim_order
    const uint8_t *allocation; // AllocationDetails, or NULL
    const uint8_t *extra;      // ExtraTensorInfo, or NULL
    uint32_t rank;             // of sizes; tensor.rank is its low byte
    uint32_t buffer;           // index of constant or initial data; 0: none
    uint32_t storage_offset;
    uint32_t dynamism;
} ember_plan_tensor_t;

// Segment `index` of the vector `segments`, inside `all`. False, and an empty segment,
// when there is none.
EMBER_LOCAL bool ember_segment_at(ember_vector_t segments, const ember_bytes_t *all,
                                  uint32_t index, ember_bytes_t *segment);
EMBER_LOCAL bool ember_program_segment(const ember_program_t *program, uint32_t index,
                                       ember_bytes_t *segment);

// Item `index` of a list of byte vectors of the program: inline constants or delegates.
// NULL data past the end.
EMBER_LOCAL void ember_program_blob(const ember_program_t *program, uint32_t list,
                                    uint32_t index, ember_bytes_t *data);

// Body of a table that is a union (EValue, Instruction); `*tag` says of which kind.
EMBER_LOCAL const uint8_t *ember_plan_union(const uint8_t *table, uint32_t *tag);

// Body table of value `index`; `*kind` receives its tag.
EMBER_LOCAL const uint8_t *ember_plan_value(ember_vector_t values, uint32_t index,
                                            ember_kind_t *kind);

// Instructions of the method's only chain.
EMBER_LOCAL ember_vector_t ember_plan_instructions(const uint8_t *plan);

// Reads a Tensor table. False when
// ember_sizes_numel() is, which no longer happens once the program is open.
EMBER_LOCAL bool ember_plan_tensor(const uint8_t *table, ember_plan_tensor_t *plan);

// Everything but tensors: value->kind says which; lists are not resolved.
EMBER_LOCAL void ember_plan_scalar(const uint8_t *body, ember_value_t *value);

EMBER_LOCAL bool ember_plan_is_external(const ember_plan_tensor_t *plan);

// Where a constant or an initial state lies; NULL when the tensor has none. False when
// it is missing, truncated, misaligned, or of another shape in its data file.
EMBER_LOCAL bool ember_plan_tensor_data(const ember_program_t *program,
                                        const ember_plan_tensor_t *plan,
                                        ember_bytes_t *data);

// Product of sizes in `numel`; false when a size is negative or the product
// exceeds INT32_MAX.
EMBER_LOCAL bool ember_sizes_numel(const int32_t *sizes, uint32_t rank,
                                   uint32_t *numel);

// True when `order` holds each of 0 .. rank - 1 once; rank is at most EMBER_MAX_RANK.
EMBER_LOCAL bool ember_is_permutation(const uint8_t *order, uint32_t rank);

// Semantic checks of everything in a structurally verified program. `*instruction`
// receives the one that fails, or EMBER_NO_INSTRUCTION.
EMBER_LOCAL ember_status_t ember_program_check(const ember_program_t *program,
                                               uint32_t *instruction,
                                               ember_error_t *err);

#endif // EMBER_PLAN_H
