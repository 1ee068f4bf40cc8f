// SPDX-License-Identifier: Apache-2.0
// Delegates: parts of a program that a backend runs from a blob of its own format.
#ifndef EMBER_BACKEND_H
#define EMBER_BACKEND_H

#include "ember/arena.h"
#include "ember/node.h"
#include "ember/program.h"

EMBER_C_BEGIN

typedef struct ember_compile_spec {
    const char *key; // not guaranteed to be NUL-terminated
    uint32_t key_length;
    ember_bytes_t value;
} ember_compile_spec_t;

// What a backend sees while it starts.
typedef struct ember_delegate_info {
    const ember_program_t *program; // for ember_program_named_data()
    ember_bytes_t blob;             // untrusted
    const uint8_t *delegate;        // the BackendDelegate table
    ember_arena_t *arena;           // memory that lives as long as the method
    struct ember_method *method;    // for ember_delegate_scratch()
    ember_error_t *error;
    bool *released; // for ember_delegate_release()
    uint64_t *work; // for ember_delegate_work()
} ember_delegate_info_t;

// Compile spec `index` of a delegate; false past the end.
bool ember_delegate_spec(const ember_delegate_info_t *info, uint32_t index,
                         ember_compile_spec_t *spec);

// Reserves, during init, the scratch that each execute takes with ember_node_scratch().
// NO_MEMORY if there is less. The size must not depend on sizeof(void *).
EMBER_MUST_USE ember_status_t ember_delegate_scratch(const ember_delegate_info_t *info,
                                                     size_t bytes);

// Adds to the bound of the work of one execute, in elementary steps
// (ember_node_work()). It does NOT yet include one step for each element of its largest
// arguments.
void ember_delegate_work(const ember_delegate_info_t *info, uint64_t steps);

// Declares, during init, that neither execute nor destroy will read the blob. Its
// memory may then be reused (ember_method_spare()).
void ember_delegate_release(const ember_delegate_info_t *info);

// Hooks for nodes inside delegates, called by backends that support them; each may be
// NULL.
typedef struct ember_delegate_tracer {
    // Around node `node` of the executing delegate. Nodes run in order.
    void (*begin)(void *context, uint32_t node);
    void (*end)(void *context, uint32_t node);
    // After `end`: output `output` of the node, as it is now.
    void (*output)(void *context, uint32_t node, uint32_t output,
                   const ember_tensor_t *tensor);
    void *context;
} ember_delegate_tracer_t;

// The hooks that a backend calls while it executes `call`; NULL: none.
const ember_delegate_tracer_t *ember_node_tracer(const ember_node_t *call);

typedef struct ember_backend {
    const char *id; // as in the program, "XnnpackBackend"
    // Called once per delegate of a loaded method. `*handle` belongs to the backend.
    ember_status_t (*init)(const ember_delegate_info_t *info, void **handle);
    // Reads the call's arguments with the accessors of node.h: inputs, then outputs
    // (with ember_node_output(), which refuses constants). If ember_node_status() is
    // not EMBER_OK afterwards, a tensor may lack memory.
    ember_status_t (*execute)(void *handle, ember_node_t *call);
    // May be NULL.
    void (*destroy)(void *handle);
} ember_backend_t;

typedef struct ember_backends {
    const ember_backend_t *const *items;
    uint32_t count;
} ember_backends_t;

EMBER_C_END

#endif // EMBER_BACKEND_H
