// SPDX-License-Identifier: Apache-2.0
// The kernels that resolve_main.c may choose from: those compiled into it, without
// those that the board lacks or the user rules out.
#ifndef EMBER_RESOLVE_LIMITS_H
#define EMBER_RESOLVE_LIMITS_H

#include "ember/arena.h"
#include "ember/kernels.h"
#include "ember/program.h"

// Copies `all` to `room`; each operator that `text` names keeps only the candidates on
// its line, in that order. A line is "aten::add.out add_f32 add"; kernels that `all`
// does not have are ignored. `items` is NULL if the room is too small.
ember_operators_t ember_resolve_limits(const ember_operators_t *all, ember_bytes_t text,
                                       ember_arena_t *room);

// Pointers of a block for so many candidates, NULL behind them, and what may be before.
static inline uint32_t ember_resolve_words(uint32_t candidates) {
    return candidates + 1 +
           (uint32_t)(sizeof(ember_schemas_t) / sizeof(const ember_kernel_t *));
}

// Where candidates of `operation` go in such a block: behind its ember_schemas_t, if it
// has one.
static inline const ember_kernel_t **
ember_resolve_candidates(void *block, const ember_operator_t *operation) {
    ember_schemas_t *schemas = block;
    if ((operation->flags & EMBER_OP_SCHEMAS) != 0) {
        *schemas = ((const ember_schemas_t *)(const void *)operation->candidates)[-1];
    }
    return (const ember_kernel_t **)(void *)(schemas + 1);
}

#endif // EMBER_RESOLVE_LIMITS_H
