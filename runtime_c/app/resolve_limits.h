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

#endif // EMBER_RESOLVE_LIMITS_H
