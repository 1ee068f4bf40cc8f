// SPDX-License-Identifier: Apache-2.0
// A method that was prepared when the firmware was built: its steps and the states of
// its kernels are constants, so the firmware has no code that reads programs or
// prepares nodes, and loading takes no time and no arena.
//
// `ember build --prepared` generates it: the SDK loads the program as a board would,
// with the same checks, and stores the result of each node. Methods in which something
// can change at run time cannot be prepared.
#ifndef EMBER_PREPARED_H
#define EMBER_PREPARED_H

#include "ember/method.h"

typedef struct ember_prepared {
    const ember_step_t *steps;     // (step_count,)
    const ember_tensor_t *inputs;  // (input_count,), in their own memory
    const ember_tensor_t *outputs; // (output_count,)
    uint32_t step_count;
    uint32_t input_count;
    uint32_t output_count;
    uint64_t work; // as in ember_method_t
} ember_prepared_t;

#endif // EMBER_PREPARED_H
