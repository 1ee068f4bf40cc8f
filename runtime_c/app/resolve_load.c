// SPDX-License-Identifier: Apache-2.0
// The passes of resolve_main.c: loads a method and reports the result.
#include "resolve_load.h"

#include "../src/method_state.h"
#include "resolve_out.h"
#include "resolve_prepare.h"
#include "resolve_probe.h"
#include "resolve_xnnpack.h"

#include <string.h>

extern const ember_backends_t ember_backends;

enum { TEMP_SHARE = 2 };

ember_program_t resolve_program;
uint32_t resolve_apart;
ember_span_t resolve_temp;

// Sizes of scratch and of the arena, in bytes.
typedef struct sizes {
    size_t temp, arena;
} sizes_t;

// Loads method `name` with as much memory as it wants, or with the `exact` sizes and an
// arena of zeros.
static ember_status_t load(ember_method_t *method, const char *name,
                           const sizes_t *exact, const ember_registry_t *registry,
                           ember_error_t *error) {
    ember_method_meta_t meta;
    const ember_status_t status =
        ember_method_meta(&resolve_program, name, &meta, error);
    if (status != EMBER_OK) {
        return status;
    }
    ember_span_t *planned = resolve_take(meta.planned_count + 1, sizeof(*planned));
    for (uint32_t i = 0; i < meta.planned_count; i++) {
        const size_t size = (size_t)ember_method_meta_planned_size(&meta, i + 1);
        (void)resolve_take(resolve_apart, 1);
        planned[i] = (ember_span_t){resolve_take(size, 1), size};
    }
    (void)resolve_take(resolve_apart, 1);
    const size_t share = (resolve_room.size - resolve_room.used) / TEMP_SHARE;
    const size_t temp = exact != NULL ? exact->temp + EMBER_ALIGN : share;
    const ember_span_t scratch = {ember_arena_alloc(&resolve_room,
                                                    temp & ~(size_t)(EMBER_ALIGN - 1),
                                                    EMBER_ALIGN),
                                  temp};
    resolve_temp = scratch;
    (void)resolve_take(resolve_apart, 1);
    const size_t left =
        (resolve_room.size - resolve_room.used) & ~(size_t)(EMBER_ALIGN - 1);
    const size_t arena = exact != NULL ? exact->arena : left - EMBER_ALIGN;
    const ember_memory_t memory = {
        .method = {.data = ember_arena_alloc(&resolve_room, arena, EMBER_ALIGN),
                   .size = arena},
        .planned = planned,
        .planned_count = meta.planned_count,
        .temp = scratch,
    };
    if (exact != NULL && memory.method.data != NULL) {
        memset(memory.method.data, 0, arena);
    }
    return ember_method_load(method, &resolve_program, name, registry, &memory, error);
}

static const char *method_name(uint32_t index) {
    uint32_t length;
    const char *text = ember_program_method_name(&resolve_program, index, &length);
    char *name = resolve_take(length + 1, 1);
    memcpy(name, text, length);
    return name;
}

void resolve_put_failure(ember_status_t status, const ember_error_t *error) {
    resolve_put_number(", \"status\": ", status);
    if (status != EMBER_OK) {
        resolve_put_number(", \"instruction\": ",
                           error->instruction == EMBER_NO_INSTRUCTION
                               ? -1
                               : (int64_t)error->instruction);
        resolve_put_text(", \"message\": ", error->message != NULL
                                                ? error->message
                                                : ember_status_text(status));
    }
}

bool resolve_probe_method(uint32_t index) {
    const ember_arena_t before = resolve_room;
    const char *name = method_name(index);
    ember_error_t error = {EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
    static ember_method_t method;
    ember_method_meta_t meta;
    ember_status_t status = ember_method_meta(&resolve_program, name, &meta, &error);

    resolve_put_number("  {\"index\": ", index);
    if (status == EMBER_OK) {
        const ember_operators_t operators = resolve_probing_table(&meta);
        const ember_backends_t backends = resolve_probing_backends(&meta);
        const ember_registry_t registry = {&operators, &backends, &ember_changing};
        resolve_put(", \"calls\": [");
        status = load(&method, name, NULL, &registry, &error);
        resolve_put("]");
        if (status == EMBER_OK) {
            resolve_note_volatile(&method);
            ember_method_unload(&method);
        }
    }
    resolve_put_failure(status, &error);
    resolve_put("}");
    resolve_room = before;
    return status == EMBER_OK;
}

void resolve_measure_method(uint32_t index, const ember_operators_t *operators) {
    const ember_arena_t before = resolve_room;
    const ember_registry_t registry = {operators, &ember_backends, &ember_changing};
    ember_error_t error = {EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
    static ember_method_t method;
    const ember_status_t status =
        load(&method, method_name(index), NULL, &registry, &error);

    resolve_put_number("  {\"index\": ", index);
    resolve_put_failure(status, &error);
    if (status == EMBER_OK) {
        resolve_put_number(", \"arena\": ", (int64_t)method.arena.peak);
        resolve_put_number(", \"temp\": ", (int64_t)method.temp_used);
        resolve_put_number(", \"slots\": ", method.slot_count);
        resolve_put_number(", \"work\": ", (int64_t)method.work);
        resolve_put_number(", \"volatile_work\": ", (int64_t)method.volatile_work);
        resolve_put_number(", \"changing\": ", method.parts != NULL);
        resolve_put_delegates(&method);
        ember_method_unload(&method);
    }
    resolve_put("}");
    resolve_room = before;
}

static bool has_delegates(uint32_t index) {
    ember_method_meta_t meta;
    return ember_method_meta(&resolve_program, method_name(index), &meta, NULL) ==
               EMBER_OK &&
           vector_count(meta.plan[PLAN_DELEGATES].at) > 0;
}

void resolve_prepare_method(uint32_t index, const ember_operators_t *operators) {
    const ember_arena_t before = resolve_room;
    const ember_backends_t backends = resolve_settling_backends();
    const bool delegates = has_delegates(index);
    const ember_registry_t registry = {operators, &backends,
                                       delegates ? &ember_changing : NULL};
    ember_error_t error = {EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
    static ember_method_t method;
    const char *name = method_name(index);
    ember_status_t status = load(&method, name, NULL, &registry, &error);
    const sizes_t exact = {method.temp_used, method.arena.peak};

    resolve_room = before;
    if (status == EMBER_OK) {
        status = load(&method, method_name(index), &exact, &registry, &error);
    }
    if (status == EMBER_OK && delegates) {
        status = resolve_settle(&method);
        error = method.error;
    }
    resolve_put_number("  {\"index\": ", index);
    resolve_put_failure(status, &error);
    if (status == EMBER_OK) {
        resolve_put_number(", \"work\": ", (int64_t)method.work);
        resolve_put_prepared(&method, operators,
                             (ember_span_t){method.arena.data, exact.arena});
    }
    resolve_put("}");
    resolve_room = before;
}
