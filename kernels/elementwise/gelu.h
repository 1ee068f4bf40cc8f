// SPDX-License-Identifier: Apache-2.0
// What the kernels of gelu share.
#ifndef EMBER_KERNELS_ELEMENTWISE_GELU_H
#define EMBER_KERNELS_ELEMENTWISE_GELU_H

#include <string.h>

#include "ember/node.h"

// Whether the `approximate` argument is tanh; fails the node unless it is that or none.
static inline bool ember_gelu_is_tanh(ember_node_t *node) {
    uint32_t length;
    const char *text = ember_node_string(node, 1, &length);
    const bool by_tanh = length == 4 && memcmp(text, "tanh", 4) == 0;
    if (!by_tanh && (length != 4 || memcmp(text, "none", 4) != 0)) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "gelu: approximate must be none or tanh");
    }
    return by_tanh;
}

#endif // EMBER_KERNELS_ELEMENTWISE_GELU_H
