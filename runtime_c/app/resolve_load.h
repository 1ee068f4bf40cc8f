// SPDX-License-Identifier: Apache-2.0
// The passes of resolve_main.c: load a method and report the result.
#ifndef EMBER_RESOLVE_LOAD_H
#define EMBER_RESOLVE_LOAD_H

#include "ember/method.h"

extern ember_program_t resolve_program; // opened before the first pass
extern uint32_t resolve_apart;          // bytes between regions of memory
extern ember_span_t resolve_temp;       // lent to the method that was loaded last

// How loading ended: the status and, after a failure, where and why.
void resolve_put_failure(ember_status_t status, const ember_error_t *error);

// First pass: loads method `index` with probes. True if it has no gaps.
bool resolve_probe_method(uint32_t index);

// Second pass: loads it with `operators`, the chosen ones, and reports the memory that
// it takes.
void resolve_measure_method(uint32_t index, const ember_operators_t *operators);

// Third pass: loads it again the way firmware for fixed methods does, and reports the
// states.
void resolve_prepare_method(uint32_t index, const ember_operators_t *operators);

#endif // EMBER_RESOLVE_LOAD_H
