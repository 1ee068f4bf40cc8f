// SPDX-License-Identifier: Apache-2.0
// Reads a program's methods and their values. Internal.
#ifndef EMBER_PLAN_H
#define EMBER_PLAN_H

#include "schema.h"

// A Tensor table after reading.
typedef struct ember_plan_tensor {
    ember_tensor_t tensor;     // as declared; data is NULL
    uint32_t buffer;           // index of constant or initial data; 0: none
    const uint8_t *allocation; // AllocationDetails, or NULL
    bool dynamic;              // its sizes are bounds
    bool external;             // its data is in a data file
    const uint8_t *extra;      // ExtraTensorInfo, or NULL
} ember_plan_tensor_t;

// Segment `index` of the program. False, and an empty segment, if there is none.
EMBER_LOCAL bool ember_program_segment(ember_flat_t *flat,
                                       const ember_program_t *program, uint32_t index,
                                       ember_bytes_t *segment);

// Item `index` of a list of byte vectors: inline constants or delegates. NULL data
// past the end.
EMBER_LOCAL void ember_program_blob(ember_flat_t *flat, ember_vector_t list,
                                    uint32_t index, ember_bytes_t *data);

// Reads an ExecutionPlan table.
EMBER_LOCAL void ember_plan_read(ember_flat_t *flat, const ember_program_t *program,
                                 const uint8_t *table, ember_method_meta_t *meta);

// Reads and checks a Tensor table: dtype, sizes, dim order, and the limits of this
// runtime. False, and the tensor all zero, on failure.
EMBER_LOCAL bool ember_plan_tensor(ember_flat_t *flat, const uint8_t *table,
                                   ember_plan_tensor_t *plan);

static inline bool is_number(uint32_t kind) {
    return kind == EMBER_INT || kind == EMBER_DOUBLE;
}

// Everything except tensors and numbers: value->kind says what it is; lists are not
// resolved.
EMBER_LOCAL void ember_plan_scalar(ember_flat_t *flat, const uint8_t *body,
                                   ember_value_t *value);

// Reads item `index` of a vector of EValues: its kind and, unless it is a tensor, its
// content. Returns its body; NULL and EMBER_NONE if it is malformed. With a NULL
// `value`, of instructions: the tag is in flat->tag. One function for both, because
// being fast makes it large.
EMBER_LOCAL const uint8_t *ember_plan_value(ember_flat_t *flat, ember_vector_t items,
                                            uint32_t index, ember_value_t *value);

// Whether it has data: a constant or, with planned memory, an initial state.
static inline bool ember_plan_has_data(const ember_plan_tensor_t *plan) {
    return plan->external || plan->buffer != 0;
}

// The name of a tensor that was read, or an empty one.
static inline ember_vector_t ember_plan_name(ember_flat_t *flat,
                                             const ember_plan_tensor_t *plan) {
    return ember_flat_field(flat, plan->extra, EXTRA_NAME).at;
}

// Reads a SubsegmentOffsets table of the program, which may be NULL.
EMBER_LOCAL void ember_plan_offsets(ember_flat_t *flat, const ember_program_t *program,
                                    const uint8_t *table, ember_offsets_t *offsets);

// Where its data is: at `offsets`, unless it is elsewhere.
// Records a failure in `flat` if data is missing, truncated, of another shape in its
// file, or misaligned as a constant.
EMBER_LOCAL const uint8_t *ember_plan_data(ember_flat_t *flat,
                                           const ember_program_t *program,
                                           const ember_plan_tensor_t *plan,
                                           const ember_offsets_t *offsets);

// The product of sizes in `numel`; false if a size is negative or the product exceeds
// INT32_MAX.
EMBER_LOCAL bool ember_sizes_numel(const int32_t *sizes, uint32_t rank,
                                   uint32_t *numel);

// Sets sizes, dim_order, rank and number of elements of a tensor. False, and all of
// these may be wrong, if the rank exceeds EMBER_MAX_RANK, `order` does not have each of
// 0 .. rank - 1 once, a size is negative or the elements exceed INT32_MAX.
EMBER_LOCAL bool ember_plan_shape(ember_tensor_t *tensor, ember_vector_t sizes,
                                  ember_vector_t order);

static inline bool is_scalar(uint32_t kind) {
    return kind >= EMBER_INT && kind <= EMBER_DOUBLE;
}

#endif // EMBER_PLAN_H
