// SPDX-License-Identifier: Apache-2.0
// What tools ask about a delegate that was started. Firmware does not link it.
#ifndef EMBER_XNNPACK_DESCRIBE_H
#define EMBER_XNNPACK_DESCRIBE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ember_xnnpack_choice {
    const char *kernel;  // which took the node
    const char *variant; // "pf32_gemm", ...; NULL: has no such name
} ember_xnnpack_choice_t;

// Node `index` of the delegate with this handle. False past the end.
bool ember_xnnpack_describe(const void *handle, uint32_t index,
                            ember_xnnpack_choice_t *choice);

#endif // EMBER_XNNPACK_DESCRIBE_H
