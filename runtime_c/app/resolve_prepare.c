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

static void put_step(const ember_step_t *step, const ember_kernel_t *kernel) {
    resolve_put_text("{\"kernel\": ", kernel->name);
    resolve_put_number(", \"state\": ", (int64_t)(uintptr_t)step->state);
    resolve_put(", \"words\": [");
    for (uint32_t at = 0; at < kernel->state_size; at += sizeof(uint32_t)) {
        uint32_t word = 0;
        const size_t left = kernel->state_size - at;
        memcpy(&word, (const uint8_t *)step->state + at,
               left < sizeof(word) ? left : sizeof(word));
        resolve_put_number(at > 0 ? ", " : "", word);
    }
    resolve_put("]}");
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
    for (uint32_t i = 0; i < method->meta.instruction_count; i++) {
        const ember_kernel_t *kernel = kernel_of(method->steps[i].run, operators);
        if (kernel != NULL) { // all kernels, in a method in which nothing changes
            resolve_put(i > 0 ? ",\n   " : "\n   ");
            put_step(&method->steps[i], kernel);
        }
    }
    put_addresses("], \"inputs\": [", method, method->meta.input_count,
                  ember_method_input);
    put_addresses(", \"outputs\": [", method, method->meta.output_count,
                  ember_method_output);
}
