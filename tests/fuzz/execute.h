// SPDX-License-Identifier: Apache-2.0
// Runs what still loads: opens, loads and executes programs under a budget.
#ifndef EMBER_FUZZ_EXECUTE_H
#define EMBER_FUZZ_EXECUTE_H

#include <signal.h>
#include <stdint.h>

#include "ember/bundle.h"

typedef struct fuzz_counts {
    uint64_t mutants, opened, loaded, executed;
    uint64_t steps; // that executions took of their budgets, at most
} fuzz_counts_t;

extern fuzz_counts_t fuzz_counts;
extern volatile sig_atomic_t fuzz_verbose;

// Each method of a program, with a data file unless that is NULL; with a bundle, its
// test cases.
void fuzz_run_program(ember_bytes_t bytes, ember_bytes_t data_file,
                      const ember_bundle_t *bundle);

void fuzz_run_bundle(ember_bytes_t bytes);

#endif // EMBER_FUZZ_EXECUTE_H
