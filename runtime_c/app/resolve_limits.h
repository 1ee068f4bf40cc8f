// SPDX-License-Identifier: Apache-2.0
// The kernels that resolve_main.c may choose from: those that were compiled into it,
// less what a board has not and what the user rules out.
#ifndef EMBER_RESOLVE_LIMITS_H
#define EMBER_RESOLVE_LIMITS_H

#include "ember/arena.h"
#include "ember/kernels.h"
#include "ember/program.h"

// A copy of `all` in `room`, each operator that `text` names with the candidates of its
// line only, in that order. A line is "aten::add.out add_f32 add"; kernels that `all`
// does not have are left out. `items` is NULL when the room is too small.
ember_operators_t ember_resolve_limits(const ember_operators_t *all, ember_bytes_t text,
                                       ember_arena_t *room);

#endif // EMBER_RESOLVE_LIMITS_H
