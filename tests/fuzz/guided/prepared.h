// SPDX-License-Identifier: Apache-2.0
// Methods whose nodes are constants, as `ember build --prepared` makes them.
#ifndef EMBER_FUZZ_GUIDED_PREPARED_H
#define EMBER_FUZZ_GUIDED_PREPARED_H

#include "ember/arena.h"

// Loads each method in which nothing changes at two places in memory, makes of the
// states of its nodes those for a third, and aborts unless these compute the same.
void fuzz_run_prepared(ember_bytes_t bytes);

#endif // EMBER_FUZZ_GUIDED_PREPARED_H
