// SPDX-License-Identifier: Apache-2.0
// Work of loops in loops, whose product may have more than 32 bits.
#ifndef EMBER_KERNELS_ENGINE_WORK_H
#define EMBER_KERNELS_ENGINE_WORK_H

#include "ember/node.h"

// Adds times x each x steps, where `steps` are few.
static inline void ember_work_products(ember_node_t *node, uint32_t times,
                                       uint32_t each, uint32_t steps) {
    for (uint32_t i = 0; i < steps; i++) {
        ember_node_work(node, times, each);
    }
}

#endif // EMBER_KERNELS_ENGINE_WORK_H
