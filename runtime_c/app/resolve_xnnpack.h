// SPDX-License-Identifier: Apache-2.0
// What resolve_main.c asks of XNNPACK's backend. A loader of programs without XNNPACK
// delegates links resolve_plain.c instead, so that the backend is not compiled.
#ifndef EMBER_RESOLVE_XNNPACK_H
#define EMBER_RESOLVE_XNNPACK_H

#include <stdint.h>

// Reports the kernels of a delegate's nodes, and where their weights are packed.
void resolve_put_graph(const void *handle);

// Sets the bytes of a streaming vector of the board.
void resolve_set_vector(uint32_t bytes);

#endif // EMBER_RESOLVE_XNNPACK_H
