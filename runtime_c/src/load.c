// SPDX-License-Identifier: Apache-2.0
// Loads a method: memory, operators, slots and initial states, then every step.
#include "method_state.h"

enum { LIST_ITEMS_PER_BYTE = 2 };

static ember_status_t take_planned(ember_method_t *method,
                                   const ember_memory_t *memory) {
    const ember_method_meta_t *meta = &method->meta;
    const uint32_t lent = memory->planned_count;
    for (uint32_t id = 1; id <= meta->planned_count; id++) {
        const size_t size = id <= lent ? memory->planned[id - 1].size : 0;
        if (size < ember_method_meta_planned_size(meta, id)) {
            return fail(method, EMBER_NO_MEMORY,
                        "method: a planned memory is too small");
        }
        if (size > 0 &&
            ((uintptr_t)memory->planned[id - 1].data & (EMBER_ALIGN - 1)) != 0) {
            return fail(method, EMBER_BAD_ARGUMENT,
                        "method: planned memory must be aligned to 16 bytes");
        }
    }
    method->planned = memory->planned;
    method->planned_count = lent < meta->planned_count ? lent : meta->planned_count;
    return EMBER_OK;
}

// An operator that this build lacks stays NULL; its calls then fail with their index.
// Packed programs list operators in the order of the build's table.
static void find_operators(ember_method_t *method) {
    ember_flat_t *flat = &method->flat;
    const ember_vector_t all = method->meta.plan[PLAN_OPERATORS].at;
    for (uint32_t i = 0; i < vector_count(all); i++) {
        const uint8_t *table = ember_flat_item(flat, all, i);
        const uint16_t *at =
            ember_flat_layout(flat, table, OPERATOR_FIELDS, flat->layouts[LAYOUT_CALL]);
        ember_field_t names[2];
        names[OPERATOR_NAME].at =
            ember_flat_vector(flat, table, at[OPERATOR_NAME], FLAT_VEC1);
        names[OPERATOR_OVERLOAD].at =
            ember_flat_vector(flat, table, at[OPERATOR_OVERLOAD], FLAT_VEC1);
        method->operators[i] =
            ember_operators_find(method->registry->operators, names, i);
    }
}

static ember_status_t make_arrays(ember_method_t *method) {
    // Each takes 4 bytes of the file, so the products cannot wrap.
    const size_t steps = method->meta.instruction_count * sizeof(ember_step_t);
    const size_t operators =
        vector_count(method->meta.plan[PLAN_OPERATORS].at) * sizeof(void *);
    method->steps = ember_arena_alloc(&method->arena, steps, sizeof(void *));
    method->operators = ember_arena_alloc(&method->arena, operators, sizeof(void *));
    if (method->steps == NULL || method->operators == NULL) {
        return ember_method_no_memory(method);
    }
    find_operators(method);
    return EMBER_OK;
}

// Checks inputs or outputs, and records if one of them can change.
static void look_at(ember_method_t *method, ember_vector_t values) {
    for (uint32_t i = 0; i < vector_count(values); i++) {
        ember_value_t value;
        ember_method_value(method, vector_u32(values, i), &value);
        method->changes |= is_scalar(value.kind);
    }
}

// A function of its own, so that its locals are not on the stack below the kernels'.
static __attribute__((noinline)) ember_status_t
begin_load(ember_method_t *method, const ember_memory_t *memory,
           const ember_changing_t *parts) {
    ember_status_t status;
    const ember_program_t *program = method->meta.program;
    ember_flat_begin(&method->flat, &program->flat, &method->error);
    ember_plan_offsets(&method->flat, program,
                       program->root[PROGRAM_CONSTANT_SEGMENT].at, &method->constants);
    method->credit = method->list_items;
    method->temp = memory->temp;
    method->temp_used = 0;
    method->work = 0;
    method->arena = memory->method;
    method->parts = parts;
    ember_recent_forget(method->recent);
    status = make_arrays(method);
    if (status == EMBER_OK && parts != NULL) {
        status = parts->load_values(method);
    }
    if (status == EMBER_OK) {
        look_at(method, method->meta.plan[PLAN_INPUTS].at);
        look_at(method, method->meta.plan[PLAN_OUTPUTS].at);
        status = method->flat.status;
    }
    return status;
}

static ember_status_t load_all(ember_method_t *method, const ember_memory_t *memory,
                               const ember_changing_t *parts, uint32_t *instruction) {
    ember_status_t status = begin_load(method, memory, parts);
    *instruction = EMBER_NO_INSTRUCTION;
    for (uint32_t i = 0; status == EMBER_OK && i < method->meta.instruction_count;
         i++) {
        if (parts != NULL) {
            method->work_before[i] = method->work;
        }
        method->work += EMBER_CALL_STEPS;
        method->error.status = EMBER_OK; // a volatile node may have failed for now
        status = ember_method_load_step(method, i);
        if (method->flat.status != EMBER_OK) {
            status = method->flat.status;
        }
        *instruction = i;
    }
    return status;
}

// Most methods have no value that can change, and finding out takes as long as
// everything else. So a method is first loaded as a fixed one; if something that
// changes turns up, or that fails, it is loaded again with the parts for changes.
// States and delegates need these from the start.
static ember_status_t load(ember_method_t *method, const ember_memory_t *memory,
                           uint32_t *instruction) {
    ember_recent_t recent;
    const ember_method_meta_t *meta = &method->meta;
    const ember_changing_t *parts = method->registry->changing;
    ember_status_t status = take_planned(method, memory);
    if (status != EMBER_OK) {
        return status;
    }
    method->recent = &recent;
    method->changes =
        vector_count(meta->program->root[PROGRAM_MUTABLE_SEGMENTS].at) > 0 ||
        vector_count(meta->plan[PLAN_DELEGATES].at) > 0;
    if (!method->changes) {
        status = load_all(method, memory, NULL, instruction);
    }
    if (parts != NULL && (method->changes || status != EMBER_OK)) {
        status = load_all(method, memory, parts, instruction);
    } else if (method->changes) {
        *instruction = EMBER_NO_INSTRUCTION;
        status = fail(
            method, EMBER_UNSUPPORTED,
            "method: something in it can change, which this build does not support");
    }
    method->recent = NULL;
    return status;
}

ember_status_t ember_method_load(ember_method_t *method, const ember_program_t *program,
                                 const char *name, const ember_registry_t *registry,
                                 const ember_memory_t *memory, ember_error_t *err) {
    uint32_t instruction = EMBER_NO_INSTRUCTION;
    memset(method, 0, offsetof(ember_method_t, flat)); // the rest begins a load
    method->clock = 1;
    method->budget = EMBER_NO_BUDGET;
    method->list_items = LIST_ITEMS_PER_BYTE * (uint32_t)program->flat.size;
    method->registry = registry;
    ember_status_t status = ember_method_meta(program, name, &method->meta, err);
    if (status != EMBER_OK) {
        return status;
    }
    status = load(method, memory, &instruction);
    if (status != EMBER_OK) {
        if (method->parts != NULL) {
            method->parts->unload(method);
        }
        (void)ember_method_fail(method, instruction, status, err);
    }
    return status;
}
