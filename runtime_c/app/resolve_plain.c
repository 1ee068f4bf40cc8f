// SPDX-License-Identifier: Apache-2.0
// Replaces resolve_xnnpack.c in a loader without that backend.
#include "resolve_xnnpack.h"

void resolve_put_graph(const void *handle) {
    (void)handle;
}

ember_backends_t resolve_settling_backends(void) {
    return (ember_backends_t){NULL, 0};
}

void resolve_set_vector(uint32_t bytes) {
    (void)bytes;
}
