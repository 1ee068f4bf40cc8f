// SPDX-License-Identifier: Apache-2.0
// Delegates of a method: started once each, executed by DelegateCalls.
#include "method_state.h"

typedef struct delegate_state {
    ember_method_t *method;
    const struct ember_delegate *delegate;
    ember_vector_t args;
} delegate_state_t;

static const ember_backend_t *find_backend(const ember_backends_t *backends,
                                           const uint8_t *delegate) {
    for (uint32_t i = 0; backends != NULL && i < backends->count; i++) {
        const char *id = backends->items[i]->id;
        if (ember_flat_is(delegate, DELEGATE_ID, id)) {
            return backends->items[i];
        }
    }
    return NULL;
}

static bool find_blob(const ember_program_t *program, const uint8_t *delegate,
                      ember_bytes_t *blob) {
    const uint8_t *where = ember_flat_table(delegate, DELEGATE_DATA);
    *blob = (ember_bytes_t){NULL, 0};
    if (where == NULL) {
        return true;
    }
    const uint32_t index = ember_flat_u32(where, REFERENCE_INDEX);
    const uint32_t location = ember_flat_u8(where, REFERENCE_LOCATION);
    if (location == DATA_SEGMENT) {
        return ember_program_segment(program, index, blob);
    }
    if (location == DATA_INLINE) {
        ember_program_blob(program, PROGRAM_DELEGATE_DATA, index, blob);
    }
    return blob->data != NULL;
}

static ember_status_t start(ember_method_t *method, const uint8_t *table,
                            struct ember_delegate *delegate) {
    const ember_backend_t *backend = find_backend(method->registry->backends, table);
    ember_delegate_info_t info = {
        .program = method->meta.program,
        .delegate = table,
        .arena = &method->arena,
        .error = &method->error,
    };
    if (backend == NULL) {
        return fail(method, EMBER_UNSUPPORTED,
                    "delegate: this build lacks its backend");
    }
    if (!find_blob(info.program, table, &info.blob)) {
        return fail(method, EMBER_BAD_PROGRAM, "delegate: its blob is missing");
    }
    const ember_status_t status = backend->init(&info, &delegate->handle);
    if (status == EMBER_OK) {
        delegate->backend = backend;
    }
    return status;
}

static int32_t run_delegate(void *state) {
    const delegate_state_t *call = state;
    ember_node_t node = {.method = call->method, .args = call->args, .strict = true};
    const ember_status_t status =
        call->delegate->backend->execute(call->delegate->handle, &node);
    return node.status != EMBER_OK ? node.status : status;
}

ember_status_t ember_method_load_delegate(ember_method_t *method, const uint8_t *body,
                                          ember_step_t *step) {
    const uint32_t index = ember_flat_u32(body, CALL_INDEX);
    struct ember_delegate *delegate = &method->delegates[index];
    if (delegate->backend == NULL) {
        const ember_vector_t all = ember_flat_vector(method->meta.plan, PLAN_DELEGATES);
        const ember_status_t status = start(method, vector_table(all, index), delegate);
        if (status != EMBER_OK) {
            return status;
        }
    }
    delegate_state_t *state =
        ember_arena_alloc(&method->arena, sizeof(*state), sizeof(void *));
    if (state == NULL) {
        return fail(method, EMBER_NO_MEMORY, "method: its arena is too small");
    }
    *state = (delegate_state_t){method, delegate, ember_flat_vector(body, CALL_ARGS)};
    *step = (ember_step_t){run_delegate, state};
    return EMBER_OK;
}

bool ember_delegate_spec(const ember_delegate_info_t *info, uint32_t index,
                         ember_compile_spec_t *spec) {
    const ember_vector_t specs = ember_flat_vector(info->delegate, DELEGATE_SPECS);
    if (index >= vector_count(specs)) {
        return false;
    }
    const uint8_t *table = vector_table(specs, index);
    const ember_vector_t key = ember_flat_vector(table, SPEC_KEY);
    const ember_vector_t value = ember_flat_vector(table, SPEC_VALUE);
    *spec = (ember_compile_spec_t){(const char *)vector_items(key),
                                   vector_count(key),
                                   {vector_items(value), vector_count(value)}};
    return true;
}
