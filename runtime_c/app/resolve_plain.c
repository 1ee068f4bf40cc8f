// SPDX-License-Identifier: Apache-2.0
// Replaces resolve_xnnpack.c in a loader without that backend.
#include "resolve_xnnpack.h"

void resolve_put_graph(const void *handle) {
    (void)handle;
}

void resolve_set_vector(uint32_t bytes) {
    (void)bytes;
}
