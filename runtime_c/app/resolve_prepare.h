// SPDX-License-Identifier: Apache-2.0
// The third pass of resolve_main.c: what loading made of each node, as words.
#ifndef EMBER_APP_RESOLVE_PREPARE_H
#define EMBER_APP_RESOLVE_PREPARE_H

#include "ember/method.h"

// Runs the calls of delegates in a loaded method, which have settling backends.
ember_status_t resolve_settle(ember_method_t *method);

// Writes the regions of memory that words may point to, the states of the steps, and
// the addresses of inputs and outputs. `arena` is where the states are.
void resolve_put_prepared(ember_method_t *method, const ember_operators_t *operators,
                          ember_span_t arena);

#endif // EMBER_APP_RESOLVE_PREPARE_H
