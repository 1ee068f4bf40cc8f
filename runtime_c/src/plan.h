// SPDX-License-Identifier: Apache-2.0
// Reading the values of a verified program's method. Internal.
#ifndef EMBER_PLAN_H
#define EMBER_PLAN_H

#include "ember/program.h"
#include "schema.h"

// Segment `index` of a program or data file; `segments` is its vector.
// False when it is not inside `all`.
bool ember_segment_at(ember_vector_t segments, ember_bytes_t all, uint32_t index,
                      ember_bytes_t *segment);

// Body table of value `index`; `*kind` receives its tag.
const uint8_t *ember_plan_value(const uint8_t *values, uint32_t index,
                                ember_kind_t *kind);

// Instructions of the method's only chain.
ember_vector_t ember_plan_instructions(const uint8_t *plan);

// Shape, dtype and numel of a Tensor table as declared; data is NULL. No checks.
void ember_plan_tensor(const uint8_t *table, ember_tensor_t *tensor);

// Everything but tensors: value->kind says which; lists are not resolved.
void ember_plan_scalar(const uint8_t *body, ember_value_t *value);

// Where a constant or an initial state lies; NULL data when the tensor has none.
// Inline, segment and mutable segment data was checked when the program was opened;
// external data is looked up and checked here.
ember_status_t ember_plan_tensor_data(const ember_program_t *program,
                                      const uint8_t *table,
                                      const ember_tensor_t *tensor, ember_bytes_t *data,
                                      ember_error_t *err);

// Product of sizes in `numel`; false when a size is negative or the product
// exceeds INT32_MAX.
bool ember_sizes_numel(const int32_t *sizes, uint32_t rank, uint32_t *numel);

// Semantic checks of everything in a structurally verified program.
ember_status_t ember_program_check(const ember_program_t *program, ember_error_t *err);

#endif // EMBER_PLAN_H
