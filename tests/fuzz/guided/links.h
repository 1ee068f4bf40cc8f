// SPDX-License-Identifier: Apache-2.0
// The serial link's streams, led by any bytes.
#ifndef EMBER_FUZZ_LINKS_H
#define EMBER_FUZZ_LINKS_H

#include "ember/arena.h"

// Bytes are steps of a line that loses, repeats and reorders: parts of a stream come at
// any offset, are read in any pieces, and frames have any content. What is read is the
// stream.
void fuzz_run_link(ember_bytes_t bytes);

#endif // EMBER_FUZZ_LINKS_H
