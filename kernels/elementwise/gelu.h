// SPDX-License-Identifier: Apache-2.0
// What the kernels of gelu share.
#ifndef EMBER_KERNELS_ELEMENTWISE_GELU_H
#define EMBER_KERNELS_ELEMENTWISE_GELU_H

#include <string.h>

#include "ember/node.h"

// True when the `approximate` argument says tanh.
static inline bool ember_gelu_is_tanh(ember_node_t *node) {
    uint32_t length;
    const char *text = ember_node_string(node, 1, &length);
    return length == 4 && memcmp(text, "tanh", 4) == 0;
}

#endif // EMBER_KERNELS_ELEMENTWISE_GELU_H
