// SPDX-License-Identifier: Apache-2.0
// What resolve_main.c asks of XNNPACK's backend. A loader of programs without its
// delegates has resolve_plain.c for it, so that the backend is not compiled.
#ifndef EMBER_RESOLVE_XNNPACK_H
#define EMBER_RESOLVE_XNNPACK_H

#include <stdint.h>

// Of a delegate's graph: the kernels of its nodes, and where their weights are packed.
void resolve_put_graph(const void *handle);

// The bytes of a streaming vector on the board.
void resolve_set_vector(uint32_t bytes);

#endif // EMBER_RESOLVE_XNNPACK_H
