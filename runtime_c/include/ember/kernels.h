// SPDX-License-Identifier: Apache-2.0
// The table of linked kernels: generated, constant, sorted by name.
#ifndef EMBER_KERNELS_H
#define EMBER_KERNELS_H

#include "ember/node.h"

EMBER_C_BEGIN

typedef struct ember_operator {
    const char *name;                        // "aten::add.out"
    const ember_kernel_t *const *candidates; // tried in order; NULL ends the list
    uint8_t min_args;                        // arguments of a call, the trailing
    uint8_t max_args;                        //   return value included; of any schema
    uint8_t flags;                           // EMBER_OP_*
} ember_operator_t;

enum {
    EMBER_OP_BINDS_OUTPUT = 1, // run points the last tensor at other memory (et_view)
    EMBER_OP_SCHEMAS = 2,      // an ember_schemas_t is directly before its candidates
};

// An argument list that some version of an exporter wrote for an operator.
typedef struct ember_schema {
    const uint16_t
        *kinds;           // their number in a call, the trailing return value included,
                          //   then from the last: what each may be, 1 << ember_kind_t
    const uint32_t *args; // the number of the operator's, then each: EMBER_SCHEMA_*
} ember_schema_t;

#define EMBER_SCHEMA_ARGUMENT(index) (UINT32_C(1) << 31 | (index)) // of the call

// What the list lacks: a value of kind NONE, INT or BOOL that fits an int8.
#define EMBER_SCHEMA_CONSTANT(kind, value)                                             \
    (UINT32_C(3) << 30 | (uint32_t)(kind) << 8 | (uint8_t)(value))

// How calls of an operator are prepared if their arguments are not those of its
// kernels. For ember_schemas_prepare: all lists of the operator, the kernels' own
// included.
typedef struct ember_schemas {
    ember_status_t (*prepare)(ember_node_t *node,
                              const ember_kernel_t *const *candidates, void **state);
    const ember_schema_t *items; // kinds: NULL behind the last
} ember_schemas_t;

// Prepares a call by the first list that it fits, with the candidates after an
// ember_schemas_t. Linked only if a table has an operator with several lists.
ember_status_t ember_schemas_prepare(ember_node_t *node,
                                     const ember_kernel_t *const *candidates,
                                     void **state);

// The same for an operator whose first argument and output are images (N, H, W, C), by
// the kernels of the operator for (N, C, H, W).
ember_status_t ember_images_prepare(ember_node_t *node,
                                    const ember_kernel_t *const *candidates,
                                    void **state);

typedef struct ember_operators {
    const ember_operator_t *items; // sorted by strcmp of name
    uint32_t count;
} ember_operators_t;

EMBER_C_END

#endif // EMBER_KERNELS_H
