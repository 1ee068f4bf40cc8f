// SPDX-License-Identifier: Apache-2.0
// What tools ask about a started delegate. Firmware does not link it.
#ifndef EMBER_XNNPACK_DESCRIBE_H
#define EMBER_XNNPACK_DESCRIBE_H

#include <stdbool.h>
#include <stdint.h>

#include "packing.h"

typedef struct ember_xnnpack_choice {
    const char *kernel;          // the kernel that took the node
    const char *variant;         // "pf32_gemm", ...; NULL: none
    uint32_t refusals;           // ember_xnn_refusal_t of kernels tried before it
    bool row;                    // a product of at most one row
    const void *packed;          // its packed weights, or NULL
    uint32_t size;               // of those, in bytes
    char name[XNN_PACKING_NAME]; // their name in a program, ends with NUL
    bool scales;                 // they include the scales
} ember_xnnpack_choice_t;

// Node `index` of the delegate with this handle. False past the end.
bool ember_xnnpack_describe(const void *handle, uint32_t index,
                            ember_xnnpack_choice_t *choice);

// Scratch of a delegate, bytes.
typedef struct ember_xnnpack_scratch {
    uint32_t values; // of values that live between nodes
    uint32_t bound;  // the maximum that is alive at once
    uint32_t work;   // of the node that needs most besides them
} ember_xnnpack_scratch_t;

ember_xnnpack_scratch_t ember_xnnpack_scratch(const void *handle);

#endif // EMBER_XNNPACK_DESCRIBE_H
