// SPDX-License-Identifier: Apache-2.0
// A kernel that takes every call and does nothing.
#include "ember/node.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    (void)node;
    (void)state;
    return EMBER_OK;
}

static int32_t run(void *state) {
    (void)state;
    return EMBER_OK;
}

extern const ember_kernel_t bench_kernel;
const ember_kernel_t bench_kernel = {prepare, run, 0, NULL};
