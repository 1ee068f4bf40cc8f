// SPDX-License-Identifier: Apache-2.0
// Positions of what has a meaning in bytes that hold FlatBuffers, without a schema.
#ifndef EMBER_FUZZ_WALK_H
#define EMBER_FUZZ_WALK_H

#include "mutate.h"

// At most `most`; how many. What is malformed is left out.
uint32_t walk(const uint8_t *data, uint32_t size, position_t *positions, uint32_t most);

#endif // EMBER_FUZZ_WALK_H
