// SPDX-License-Identifier: Apache-2.0
// What resolve_main.c asks of XNNPACK's backend. A loader of programs without XNNPACK
// delegates links resolve_plain.c instead, so that the backend is not compiled.
#ifndef EMBER_RESOLVE_XNNPACK_H
#define EMBER_RESOLVE_XNNPACK_H

#include "ember/backend.h"

#include <stdint.h>

// Reports the kernels of a delegate's nodes, and where their weights are packed.
void resolve_put_graph(const void *handle);

// Backends whose delegates get the places of their arguments when they are executed,
// and are states of their steps afterwards.
ember_backends_t resolve_settling_backends(void);

// Sets the bytes of a streaming vector of the board.
void resolve_set_vector(uint32_t bytes);

#endif // EMBER_RESOLVE_XNNPACK_H
