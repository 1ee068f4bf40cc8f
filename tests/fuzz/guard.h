// SPDX-License-Identifier: Apache-2.0
// Kernels between guards: while a call is prepared, every tensor that an accessor
// delivers, the state and the scratch are replaced by memory of their exact size. What
// surrounds it is poisoned for the sanitizer; pages without access lie further out.
// Runs copy tensors there and back. So a kernel that touches one byte beside what it
// was given ends the program.
#ifndef EMBER_FUZZ_GUARD_H
#define EMBER_FUZZ_GUARD_H

#include "ember/node.h"

typedef struct guard_call guard_call_t;

typedef struct guard_state {
    guard_call_t *call;
} guard_state_t;

// Runs of a kernel with all of what it uses between guards, and with a part.
typedef struct guard_counts {
    const ember_kernel_t *kernel;
    uint64_t whole;
    uint64_t part;
    struct guard_counts *next;
} guard_counts_t;

ember_status_t guard_prepare(guard_counts_t *counts, ember_node_t *node, void *state);
int32_t guard_run(void *state);

// Ends the use of all memory between guards.
void guard_reset(void);

// Prints a line for each kernel that ran: KERNEL <name> <whole> <part>.
void guard_log(void);

// A kernel that is prepared and run between guards; run.py writes the table of them.
#define GUARDED(NAME)                                                                  \
    extern const ember_kernel_t ember_kernel_##NAME;                                   \
    static ember_status_t prepare_##NAME(ember_node_t *node, void *state) {            \
        static guard_counts_t counts = {&ember_kernel_##NAME, 0, 0, NULL};             \
        return guard_prepare(&counts, node, state);                                    \
    }                                                                                  \
    const ember_kernel_t guarded_kernel_##NAME = {prepare_##NAME, guard_run,           \
                                                  sizeof(guard_state_t), #NAME}

#endif // EMBER_FUZZ_GUARD_H
