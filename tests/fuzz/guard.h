// SPDX-License-Identifier: Apache-2.0
// Kernels between guards: while a call is prepared, every tensor that an accessor
// delivers, the state and the scratch are replaced by memory of their exact size. Runs
// copy tensors there and back. So a kernel that touches one byte beside what it was
// given ends the program.
#ifndef EMBER_FUZZ_GUARD_H
#define EMBER_FUZZ_GUARD_H

#include "ember/node.h"
#include "guard_memory.h"

typedef struct guard_call guard_call_t;

typedef struct guard_state {
    guard_call_t *call;
} guard_state_t;

ember_status_t guard_prepare(const ember_kernel_t *kernel, guard_counts_t *counts,
                             ember_node_t *node, void *state);
int32_t guard_run(void *state);

// Ends the use of all memory between guards.
void guard_reset(void);

// A kernel that is prepared and run between guards; run.py writes the table of them.
#define GUARDED(NAME)                                                                  \
    extern const ember_kernel_t ember_kernel_##NAME;                                   \
    static ember_status_t prepare_##NAME(ember_node_t *node, void *state) {            \
        static guard_counts_t counts = {#NAME, 0, 0, NULL};                            \
        return guard_prepare(&ember_kernel_##NAME, &counts, node, state);              \
    }                                                                                  \
    const ember_kernel_t guarded_kernel_##NAME = {prepare_##NAME, guard_run,           \
                                                  sizeof(guard_state_t), #NAME}

#endif // EMBER_FUZZ_GUARD_H
