// SPDX-License-Identifier: Apache-2.0
// See execute.h. Arenas, planned memory and caller's memory are allocations of exact
// size, so that the sanitizer sees the first byte past an end.
#include "execute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ember/data.h"
#include "ember/method.h"
#include "guard.h"
#include "mutate.h"
#include "table.h"

enum {
    MOST_METHODS = 4,
    MOST_PLANNED = 8,
    MOST_VALUES = 64,
    MOST_LENT = 1 << 20, // bytes of one input or output
    ARENA = 1 << 18,
    PLANNED_BYTES = 1 << 16, // more is refused as NO_MEMORY
    BUDGET = 1000000,        // steps of one execution
};

fuzz_counts_t fuzz_counts;
volatile sig_atomic_t fuzz_verbose;

static void *caller[2 * MOST_VALUES]; // memory lent to inputs and outputs
static uint32_t caller_count;

// Some numbers are likely indices, some are anything.
static void fill(void *data, size_t size) {
    uint8_t *at = data;
    const uint32_t style = fuzz_below(3);
    for (size_t i = 0; i < size; i++) {
        at[i] = style == 0   ? 0
                : style == 1 ? (uint8_t)(i % 8 == 0 ? fuzz_below(4) : 0)
                             : (uint8_t)fuzz_next();
    }
}

static void *lend(size_t size) {
    if (caller_count == 2 * MOST_VALUES || size > MOST_LENT) {
        return NULL;
    }
    uint8_t *data = malloc(size > 0 ? size : 1);
    fill(data, size);
    caller[caller_count++] = data;
    return data;
}

static void set_inputs(ember_method_t *method) {
    for (uint32_t i = 0; i < method->meta.input_count && i < MOST_VALUES; i++) {
        ember_value_t value;
        bool planned;
        if (ember_method_meta_input(&method->meta, i, &value, &planned) != EMBER_OK) {
            continue;
        }
        if (value.kind != EMBER_TENSOR) {
            if (value.kind <= EMBER_DOUBLE && fuzz_below(2) == 0) {
                (void)!ember_method_set_input(method, i, &value, NULL);
            }
            continue;
        }
        int32_t sizes[EMBER_MAX_RANK];
        uint32_t numel = 1;
        for (uint32_t k = 0; k < value.as_tensor.rank; k++) {
            sizes[k] = value.as_tensor.sizes[k];
            if (sizes[k] > 0 && fuzz_below(8) == 0) {
                sizes[k] = (int32_t)fuzz_below((uint32_t)sizes[k] + 1);
            }
            numel *= (uint32_t)sizes[k]; // never above the bound's numel but for zeros
        }
        value.as_tensor.sizes = sizes;
        value.as_tensor.data = lend((size_t)numel * value.as_tensor.element_size);
        if (value.as_tensor.data != NULL || !planned) {
            (void)!ember_method_set_input(method, i, &value, NULL);
        }
    }
}

static void set_outputs(ember_method_t *method) {
    for (uint32_t i = 0; i < method->meta.output_count && i < MOST_VALUES; i++) {
        ember_value_t value;
        bool planned;
        if (ember_method_meta_output(&method->meta, i, &value, &planned) == EMBER_OK &&
            value.kind == EMBER_TENSOR && !planned) {
            const size_t size = ember_tensor_bytes(&value.as_tensor);
            (void)!ember_method_set_output(method, i, lend(size), size, NULL);
        }
    }
}

static void count_steps(ember_status_t status, const ember_method_t *method) {
    fuzz_counts.executed += status == EMBER_OK;
    fuzz_counts.steps += status == EMBER_OK ? BUDGET - method->left : BUDGET;
}

// Reads every byte of the outputs, as an application would.
static uint32_t read_outputs(ember_method_t *method) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < method->meta.output_count && i < MOST_VALUES; i++) {
        ember_value_t value;
        if (ember_method_output(method, i, &value) == EMBER_OK &&
            value.kind == EMBER_TENSOR && value.as_tensor.data != NULL) {
            const uint8_t *data = value.as_tensor.data;
            for (size_t k = 0; k < ember_tensor_bytes(&value.as_tensor); k++) {
                sum += data[k];
            }
        }
    }
    return sum;
}

static void execute(ember_method_t *method) {
    static volatile uint32_t sink;
    void *old[2 * MOST_VALUES];
    ember_method_set_budget(method, BUDGET);
    for (int turn = 0; turn < 2; turn++) {
        const uint32_t old_count = caller_count;
        memcpy(old, caller, sizeof(old));
        caller_count = 0;
        set_inputs(method);
        set_outputs(method);
        // Memory that was lent before is gone: no node may still use it.
        for (uint32_t i = 0; i < old_count; i++) {
            free(old[i]);
        }
        ember_error_t error;
        const ember_status_t status = ember_method_execute(method, &error);
        if (fuzz_verbose) {
            printf("  execute: %d at %u %s\n", status,
                   status == EMBER_OK ? 0 : error.instruction,
                   status == EMBER_OK || error.message == NULL ? "" : error.message);
        }
        count_steps(status, method);
        sink += read_outputs(method);
    }
    for (uint32_t i = 0; i < caller_count; i++) {
        free(caller[i]);
    }
    caller_count = 0;
}

// The tests that a bundle brings for a method.
static void check_bundle(const ember_bundle_t *bundle, ember_method_t *method,
                         const char *name) {
    static _Alignas(16) uint8_t inputs[PLANNED_BYTES];
    ember_bundle_test_t test;
    ember_method_set_budget(method, BUDGET);
    for (uint32_t i = 0; i < 3; i++) {
        ember_arena_t arena = {.data = inputs, .size = PLANNED_BYTES};
        if (ember_bundle_find(bundle, name, i, &test, NULL) == EMBER_OK &&
            ember_bundle_load_inputs(&test, method, &arena, NULL) == EMBER_OK) {
            const ember_status_t status = ember_method_execute(method, NULL);
            count_steps(status, method);
            if (status == EMBER_OK) {
                (void)!ember_bundle_compare(&test, method, 1e-3, 1e-3, NULL);
            }
        }
    }
}

// What the method does not need any more may change.
static void spoil_spare(const ember_method_t *method) {
    ember_bytes_t spare;
    for (uint32_t i = 0; ember_method_spare(method, i, &spare); i++) {
        if (fuzz_verbose) {
            printf("  delegate %u: %zu bytes to spare\n", i, spare.size);
        }
        if (spare.size > 0) {
            memset((void *)(uintptr_t)spare.data, 0xA5, spare.size);
        }
    }
}

static void load_and_execute(const ember_program_t *program,
                             const ember_bundle_t *bundle, const char *name) {
    static _Alignas(16) uint8_t arena[ARENA];
    static _Alignas(16) uint8_t scratch[PLANNED_BYTES];
    ember_span_t planned[MOST_PLANNED] = {{NULL, 0}};
    ember_method_meta_t meta;
    ember_method_t method;
    ember_error_t error = {EMBER_OK, 0, NULL};
    if (ember_method_meta(program, name, &meta, NULL) != EMBER_OK) {
        return;
    }
    for (uint32_t id = 1; id <= meta.planned_count && id <= MOST_PLANNED; id++) {
        const uint64_t size = ember_method_meta_planned_size(&meta, id);
        if (size <= PLANNED_BYTES) {
            planned[id - 1] = (ember_span_t){malloc(size > 0 ? size : 1), size};
            fill(planned[id - 1].data, size);
        }
    }
    ember_memory_t memory = {
        .method = {.data = arena, .size = ARENA},
        .planned = planned,
        .planned_count = MOST_PLANNED,
        .temp = {scratch, PLANNED_BYTES},
    };
    ember_status_t status =
        ember_method_load(&method, program, name, &fuzz_registry, &memory, &error);
    if (fuzz_verbose) {
        printf("  load %s: %d at %u %s\n", name, status, error.instruction,
               error.message == NULL ? "" : error.message);
    }
    if (status == EMBER_OK) {
        const size_t need = method.arena.peak;
        const size_t temp = method.temp_used;
        ember_method_unload(&method);
        memory.method =
            (ember_arena_t){.data = malloc(need > 0 ? need : 1), .size = need};
        memory.temp = (ember_span_t){malloc(temp > 0 ? temp : 1), temp};
        status =
            ember_method_load(&method, program, name, &fuzz_registry, &memory, &error);
        if (status != EMBER_OK) {
            printf("the second load of %s fails: %d\n", name, status);
            abort();
        }
        fuzz_counts.loaded++;
        if (bundle != NULL) { // its tests, still to be read, may be in spare bytes
            check_bundle(bundle, &method, name);
        } else {
            spoil_spare(&method);
            execute(&method);
        }
        ember_method_unload(&method);
        guard_reset();
        free(memory.method.data);
        free(memory.temp.data);
    }
    for (uint32_t i = 0; i < MOST_PLANNED; i++) {
        free(planned[i].data);
    }
}

static void run_methods(const ember_program_t *program, const ember_bundle_t *bundle) {
    for (uint32_t i = 0; i < MOST_METHODS && i < ember_program_method_count(program);
         i++) {
        uint32_t length;
        char name[256];
        const char *text = ember_program_method_name(program, i, &length);
        if (length < sizeof(name)) {
            memcpy(name, text, length);
            name[length] = '\0';
            load_and_execute(program, bundle, name);
        }
    }
}

void fuzz_run_program(ember_bytes_t bytes, ember_bytes_t data_file,
                      const ember_bundle_t *bundle) {
    ember_program_t program;
    ember_data_map_t map;
    ember_bytes_t found;
    ember_error_t error;
    const ember_status_t status =
        ember_program_open(&program, bytes.data, bytes.size, &error);
    if (fuzz_verbose) {
        printf("  open: %d %s\n", status,
               status == EMBER_OK || error.message == NULL ? "" : error.message);
    }
    if (status != EMBER_OK) {
        return;
    }
    fuzz_counts.opened++;
    if (data_file.data != NULL &&
        ember_data_map_open(&map, data_file.data, data_file.size, NULL) == EMBER_OK) {
        ember_program_attach(&program, &map, 1);
    }
    (void)!ember_program_named_data(&program, "key", 3, &found);
    run_methods(&program, bundle);
}

void fuzz_run_bundle(ember_bytes_t bytes) {
    const ember_bytes_t none = {NULL, 0};
    ember_bundle_t bundle;
    if (ember_bundle_open(&bundle, bytes.data, bytes.size, NULL) == EMBER_OK) {
        fuzz_run_program(bundle.program, none, &bundle);
    }
}
