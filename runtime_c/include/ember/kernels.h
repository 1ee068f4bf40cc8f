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
    uint8_t max_args;                        //   return value included
    uint8_t flags;                           // EMBER_OP_*
} ember_operator_t;

enum {
    EMBER_OP_BINDS_OUTPUT = 1, // run points the last tensor at other memory (et_view)
};

typedef struct ember_operators {
    const ember_operator_t *items; // sorted by strcmp of name
    uint32_t count;
} ember_operators_t;

EMBER_C_END

#endif // EMBER_KERNELS_H
