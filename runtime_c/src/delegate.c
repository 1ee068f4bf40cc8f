// SPDX-License-Identifier: Apache-2.0
// Delegates of a method: each is started once and executed by DelegateCalls.
#include "method_state.h"

typedef struct delegate_state {
    ember_method_t *method;
    const struct ember_delegate *delegate;
    ember_vector_t args;
} delegate_state_t;

static const ember_backend_t *find_backend(const ember_backends_t *backends,
                                           ember_vector_t name) {
    for (uint32_t i = 0; backends != NULL && i < backends->count; i++) {
        const char *id = backends->items[i]->id;
        if (ember_flat_is(name, id)) {
            return backends->items[i];
        }
    }
    return NULL;
}

bool ember_delegate_blob(ember_flat_t *flat, const ember_program_t *program,
                         const uint8_t *where, ember_bytes_t *blob) {
    ember_field_t fields[2];
    *blob = (ember_bytes_t){NULL, 0};
    if (where == NULL) {
        return true;
    }
    ember_flat_read(flat, where, REFERENCE_FIELDS, fields);
    const uint32_t index = fields[REFERENCE_INDEX].number;
    const uint32_t location = fields[REFERENCE_LOCATION].number;
    if (location == DATA_SEGMENT) {
        return ember_program_segment(flat, program, index, blob);
    }
    if (location == DATA_INLINE) {
        ember_program_blob(flat, program->root[PROGRAM_DELEGATE_DATA].at, index, blob);
    }
    return blob->data != NULL;
}

static ember_status_t start(ember_method_t *method, const uint8_t *table,
                            struct ember_delegate *delegate) {
    ember_flat_t *flat = &method->flat;
    ember_field_t fields[2];
    ember_flat_read(flat, table, DELEGATE_FIELDS, fields);
    const ember_backend_t *backend =
        find_backend(method->registry->backends, fields[DELEGATE_ID].at);
    ember_delegate_info_t info = {
        .program = method->meta.program,
        .delegate = table,
        .arena = &method->arena,
        .method = method,
        .error = &method->error,
        .released = &delegate->released,
        .work = &delegate->work,
    };
    if (backend == NULL) {
        return fail(method, EMBER_UNSUPPORTED,
                    "delegate: this build lacks its backend");
    }
    if (!ember_delegate_blob(flat, info.program, fields[DELEGATE_DATA].at,
                             &info.blob) ||
        flat->status != EMBER_OK) {
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
    // unreached: loading read all arguments
    if (call->method->flat.status != EMBER_OK) {
        return call->method->flat.status;
    }
    return node.status != EMBER_OK ? node.status : status;
}

ember_status_t ember_method_load_delegate(ember_method_t *method,
                                          const ember_field_t *call,
                                          ember_step_t *step) {
    ember_method_read_all(method, call[CALL_ARGS].at);
    const ember_vector_t all = method->meta.plan[PLAN_DELEGATES].at;
    const uint32_t index = call[CALL_INDEX].number;
    const uint8_t *table = ember_flat_item(&method->flat, all, index);
    if (table == NULL) {
        return EMBER_BAD_PROGRAM;
    }
    struct ember_delegate *delegate = &method->delegates[index];
    if (delegate->backend == NULL) {
        const ember_status_t status = start(method, table, delegate);
        if (status != EMBER_OK) {
            return status;
        }
    }
    delegate_state_t *state = ember_method_state(method, sizeof(*state));
    if (state == NULL) {
        return EMBER_NO_MEMORY;
    }
    *state = (delegate_state_t){method, delegate, call[CALL_ARGS].at};
    *step = (ember_step_t){run_delegate, state};
    ember_work_add(&method->work, delegate->work);
    return EMBER_OK;
}

bool ember_delegate_spec(const ember_delegate_info_t *info, uint32_t index,
                         ember_compile_spec_t *spec) {
    ember_flat_t flat;
    ember_flat_begin(&flat, &info->program->flat, NULL);
    ember_field_t fields[2];
    const ember_vector_t specs =
        ember_flat_field(&flat, info->delegate, DELEGATE_SPECS).at;
    ember_flat_read(&flat, ember_flat_item(&flat, specs, index), SPEC_FIELDS, fields);
    if (flat.status != EMBER_OK) {
        return false; // also past the end
    }
    const ember_vector_t key = fields[SPEC_KEY].at;
    const ember_vector_t value = fields[SPEC_VALUE].at;
    *spec = (ember_compile_spec_t){(const char *)vector_items(key),
                                   vector_count(key),
                                   {vector_items(value), vector_count(value)}};
    return true;
}

void ember_method_unload(ember_method_t *method) {
    if (method->delegates == NULL) {
        return;
    }
    const uint32_t count = vector_count(method->meta.plan[PLAN_DELEGATES].at);
    for (uint32_t i = 0; i < count; i++) {
        struct ember_delegate *delegate = &method->delegates[i];
        if (delegate->backend != NULL && delegate->backend->destroy != NULL) {
            delegate->backend->destroy(delegate->handle);
        }
    }
    method->delegates = NULL;
}

void ember_delegate_work(const ember_delegate_info_t *info, uint64_t steps) {
    ember_work_add(info->work, steps);
}

void ember_delegate_release(const ember_delegate_info_t *info) {
    *info->released = true;
}

ember_status_t ember_delegate_scratch(const ember_delegate_info_t *info, size_t bytes) {
    ember_method_t *method = info->method;
    if (bytes > method->temp_used) {
        method->temp_used = bytes;
    }
    return bytes <= method->temp.size
               ? EMBER_OK
               : fail(method, EMBER_NO_MEMORY,
                      "delegate: the temp arena is too small for its scratch");
}

const ember_delegate_tracer_t *ember_node_tracer(const ember_node_t *call) {
    return call->method->delegate_tracer;
}
