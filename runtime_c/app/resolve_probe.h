// SPDX-License-Identifier: Apache-2.0
// The first pass of resolve_main.c: every call is prepared by a probe that records what
// happens and continues after a failure, so that all gaps are found at once.
#ifndef EMBER_RESOLVE_PROBE_H
#define EMBER_RESOLVE_PROBE_H

#include "ember/method.h"

// The operators to choose from; they must outlive everything else here.
void resolve_allow(const ember_operators_t *operators);

// A sorted table with every operator of the plan; each has the probe as its kernel.
ember_operators_t resolve_probing_table(const ember_method_meta_t *meta);

// The real backends, and one that does nothing for each missing id.
ember_backends_t resolve_probing_backends(const ember_method_meta_t *meta);

// Call this once a method is loaded with both: its volatile nodes may need any
// candidate.
void resolve_note_volatile(ember_method_t *method);

// Reports the kernels of the nodes of each delegate of a loaded method.
void resolve_put_delegates(const ember_method_t *method);

// What the calls of all methods chose.
ember_operators_t resolve_chosen(void);

#endif // EMBER_RESOLVE_PROBE_H
