// SPDX-License-Identifier: Apache-2.0
// The passes of resolve_main.c: a method is loaded, and what came of it is told.
#ifndef EMBER_RESOLVE_LOAD_H
#define EMBER_RESOLVE_LOAD_H

#include "ember/method.h"

extern ember_program_t resolve_program; // opened before the first pass
extern uint32_t resolve_apart;          // bytes between regions of memory
extern ember_span_t resolve_temp;       // lent to the method that was loaded last

// How loading ended: the status and, after a failure, where and why.
void resolve_put_failure(ember_status_t status, const ember_error_t *error);

// First pass: loads method `index` with probes. True when it has no gaps.
bool resolve_probe_method(uint32_t index);

// Second pass: loads it with `operators`, which are those that were chosen, and tells
// what memory that takes.
void resolve_measure_method(uint32_t index, const ember_operators_t *operators);

// Third pass: loads it again, as firmware in which nothing can change does, and tells
// of the states.
void resolve_prepare_method(uint32_t index, const ember_operators_t *operators);

#endif // EMBER_RESOLVE_LOAD_H
