// SPDX-License-Identifier: Apache-2.0
// Loading a method: memory, operators, slots and initial states, then every step.
#include "method_state.h"

enum { LIST_ITEMS_PER_BYTE = 2 };

static ember_status_t no_memory(ember_method_t *method) {
    return fail(method, EMBER_NO_MEMORY, "method: its arena is too small");
}

static ember_status_t check_planned(ember_method_t *method) {
    const ember_method_meta_t *meta = &method->meta;
    for (uint32_t id = 1; id <= meta->planned_count; id++) {
        const size_t need = ember_method_meta_planned_size(meta, id);
        if (need == 0) {
            continue;
        }
        if (id > method->planned_count || method->planned[id - 1].size < need) {
            return fail(method, EMBER_NO_MEMORY,
                        "method: a planned memory is too small");
        }
        if (((uintptr_t)method->planned[id - 1].data & (EMBER_ALIGN - 1)) != 0) {
            return fail(method, EMBER_BAD_ARGUMENT,
                        "method: planned memory must be aligned to 16 bytes");
        }
    }
    return EMBER_OK;
}

// An operator that this build lacks stays NULL; a call of it fails by instruction.
static ember_status_t find_operators(ember_method_t *method) {
    const ember_vector_t names = ember_flat_vector(method->meta.plan, PLAN_OPERATORS);
    const uint32_t count = vector_count(names);
    method->operators =
        ember_arena_array(&method->arena, count, sizeof(void *), sizeof(void *));
    if (method->operators == NULL) {
        return no_memory(method);
    }
    for (uint32_t i = 0; i < count; i++) {
        method->operators[i] =
            ember_operators_find(method->registry->operators, vector_table(names, i));
    }
    return EMBER_OK;
}

static ember_status_t make_arrays(ember_method_t *method) {
    const ember_method_meta_t *meta = &method->meta;
    ember_arena_t *arena = &method->arena;
    method->steps = ember_arena_array(arena, meta->instruction_count,
                                      sizeof(ember_step_t), sizeof(void *));
    method->changing = ember_arena_array(arena, (meta->value_count + 31) / 32,
                                         sizeof(uint32_t), sizeof(uint32_t));
    method->delegates = ember_arena_array(
        arena, vector_count(ember_flat_vector(meta->plan, PLAN_DELEGATES)),
        sizeof(struct ember_delegate), sizeof(void *));
    if (method->steps == NULL || method->changing == NULL ||
        method->delegates == NULL) {
        return no_memory(method);
    }
    return find_operators(method);
}

static ember_status_t load(ember_method_t *method, uint32_t *instruction) {
    ember_status_t status = check_planned(method);
    if (status == EMBER_OK) {
        status = make_arrays(method);
    }
    if (status == EMBER_OK) {
        status = ember_method_load_values(method);
    }
    for (uint32_t i = 0; status == EMBER_OK && i < method->meta.instruction_count;
         i++) {
        method->error.status = EMBER_OK; // a volatile node may have failed for now
        status = ember_method_load_step(method, i);
        *instruction = status == EMBER_OK ? EMBER_NO_INSTRUCTION : i;
    }
    return status;
}

ember_status_t ember_method_load(ember_method_t *method, const ember_program_t *program,
                                 const char *name, const ember_registry_t *registry,
                                 const ember_memory_t *memory, ember_error_t *err) {
    ember_recent_t recent = {.index = {0}};
    uint32_t instruction = EMBER_NO_INSTRUCTION;
    memset(method, 0, sizeof(*method));
    method->clock = 1;
    method->list_items = LIST_ITEMS_PER_BYTE * (uint32_t)program->flat.size;
    method->credit = method->list_items;
    method->recent = &recent;
    method->registry = registry;
    method->planned = memory->planned;
    method->planned_count = memory->planned_count;
    method->temp = memory->temp;
    method->arena = memory->method;
    ember_status_t status = ember_method_meta(program, name, &method->meta, err);
    if (status != EMBER_OK) {
        return status;
    }
    method->values = ember_flat_vector(method->meta.plan, PLAN_VALUES);
    method->instructions = ember_plan_instructions(method->meta.plan);
    status = load(method, &instruction);
    method->recent = NULL;
    if (status != EMBER_OK) {
        ember_method_unload(method);
        (void)ember_method_fail(method, instruction, status, err);
    }
    return status;
}

void ember_method_unload(ember_method_t *method) {
    if (method->delegates == NULL) {
        return;
    }
    const uint32_t count =
        vector_count(ember_flat_vector(method->meta.plan, PLAN_DELEGATES));
    for (uint32_t i = 0; i < count; i++) {
        struct ember_delegate *delegate = &method->delegates[i];
        if (delegate->backend != NULL && delegate->backend->destroy != NULL) {
            delegate->backend->destroy(delegate->handle);
        }
    }
    method->delegates = NULL;
}
