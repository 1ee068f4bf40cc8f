// SPDX-License-Identifier: Apache-2.0
#include "resolve_prepare.h"

#include "../src/method_state.h"
#include "ember/data.h"
#include "resolve_load.h"
#include "resolve_out.h"

static void put_region(const char *start, uint32_t number, const void *data,
                       size_t size) {
    resolve_put(start);
    resolve_put_number(", ", number);
    resolve_put_number(", ", (int64_t)(uintptr_t)data);
    resolve_put_number(", ", (int64_t)size);
    resolve_put("]");
}

// A whole file, which begins with its FlatBuffer.
static void put_file(const char *start, uint32_t number, ember_bytes_t flat,
                     ember_bytes_t segments) {
    const uint8_t *end = flat.data + flat.size;
    if (segments.size > 0) {
        end = segments.data + segments.size;
    }
    put_region(start, number, flat.data, (size_t)(end - flat.data));
}

static void put_regions(const ember_method_t *method, ember_span_t arena) {
    const ember_program_t *program = method->meta.program;
    resolve_put(", \"regions\": [");
    put_file("[\"program\"", 0, program->flat, program->segments);
    for (uint32_t i = 0; i < program->map_count; i++) {
        const ember_data_map_t *map = &program->maps[i];
        put_file(", [\"data\"", i, map->flat, map->segments);
    }
    put_region(", [\"arena\"", 0, arena.data, arena.size);
    put_region(", [\"temp\"", 0, resolve_temp.data, resolve_temp.size);
    for (uint32_t i = 0; i < method->planned_count; i++) {
        put_region(", [\"planned\"", i, method->planned[i].data,
                   method->planned[i].size);
    }
    resolve_put("]");
}

static const ember_kernel_t *kernel_of(ember_run_fn run,
                                       const ember_operators_t *operators) {
    for (uint32_t i = 0; i < operators->count; i++) {
        const ember_kernel_t *const *candidate = operators->items[i].candidates;
        for (; *candidate != NULL; candidate++) {
            if ((*candidate)->run == run) {
                return *candidate;
            }
        }
    }
    return NULL;
}

// The delegate that an instruction calls; NULL: it calls none.
static const struct ember_delegate *delegate_of(ember_method_t *method,
                                                uint32_t instruction) {
    ember_field_t call[2];
    const uint32_t tag = ember_method_instruction(method, instruction, call);
    return tag == CALL_DELEGATE ? &method->delegates[call[CALL_INDEX].number] : NULL;
}

ember_status_t resolve_settle(ember_method_t *method) {
    int32_t status = EMBER_OK;
    for (uint32_t i = 0; i < method->meta.instruction_count && status == 0; i++) {
        if (delegate_of(method, i) != NULL) {
            status = method->steps[i].run(method->steps[i].state);
        }
    }
    return (ember_status_t)status;
}

static void put_step(const char *name, const void *state, size_t size) {
    resolve_put_text("{\"kernel\": ", name);
    resolve_put_number(", \"state\": ", (int64_t)(uintptr_t)state);
    resolve_put(", \"words\": [");
    for (size_t at = 0; at < size; at += sizeof(uint32_t)) {
        uint32_t word = 0;
        const size_t left = size - at;
        memcpy(&word, (const uint8_t *)state + at,
               left < sizeof(word) ? left : sizeof(word));
        resolve_put_number(at > 0 ? ", " : "", word);
    }
    resolve_put("]}");
}

// What a delegate took of the arena is its state: the loader put the step's own behind.
static void put_delegate(const struct ember_delegate *delegate,
                         const ember_step_t *step) {
    const uint8_t *graph = delegate->handle;
    put_step("xnnpack", graph, (size_t)((const uint8_t *)step->state - graph));
}

static void put_steps(ember_method_t *method, const ember_operators_t *operators) {
    const char *comma = "\n   ";
    for (uint32_t i = 0; i < method->meta.instruction_count; i++) {
        const ember_step_t *step = &method->steps[i];
        const ember_kernel_t *kernel = kernel_of(step->run, operators);
        const struct ember_delegate *delegate =
            kernel == NULL ? delegate_of(method, i) : NULL;
        if (kernel == NULL && delegate == NULL) {
            continue; // something that changes, which is refused
        }
        resolve_put(comma);
        comma = ",\n   ";
        if (kernel != NULL) {
            put_step(kernel->name, step->state, kernel->state_size);
        } else {
            put_delegate(delegate, step);
        }
    }
}

static void put_addresses(const char *key, ember_method_t *method, uint32_t count,
                          ember_status_t (*get)(ember_method_t *, uint32_t,
                                                ember_value_t *)) {
    resolve_put(key);
    for (uint32_t i = 0; i < count; i++) {
        ember_value_t value = {.kind = EMBER_NONE};
        (void)get(method, i, &value);
        const void *data = value.kind == EMBER_TENSOR ? value.as_tensor.data : NULL;
        resolve_put_number(i > 0 ? ", " : "", (int64_t)(uintptr_t)data);
    }
    resolve_put("]");
}

void resolve_put_prepared(ember_method_t *method, const ember_operators_t *operators,
                          ember_span_t arena) {
    put_regions(method, arena);
    resolve_put_number(", \"steps_at\": ", (int64_t)(uintptr_t)method->steps);
    resolve_put(", \"steps\": [");
    put_steps(method, operators);
    put_addresses("], \"inputs\": [", method, method->meta.input_count,
                  ember_method_input);
    put_addresses(", \"outputs\": [", method, method->meta.output_count,
                  ember_method_output);
}
