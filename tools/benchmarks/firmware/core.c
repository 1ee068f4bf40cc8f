// SPDX-License-Identifier: Apache-2.0
// An application that reaches all of the runtime core, for tools/bench to see how
// large it is: a program and a .ptd, named data, MethodMeta, load, inputs and outputs
// of every kind, a budget, execute, a delegate table, unload. It also runs a chain of
// calls of a kernel that does nothing, between the marks that the emulator counts. It
// calls no C library, so that what is linked of one is the core's.
#include "ember/data.h"
#include "ember/method.h"
#include "ember/port.h"

extern const uint8_t bench_program[], bench_program_end[]; // images.S
extern const uint8_t bench_data[], bench_data_end[];
extern const ember_kernel_t bench_kernel; // nothing.c or accessors.c

enum { ARENA_SIZE = 64 * 1024, PLANNED_SIZE = 256, BUDGET = 10000 };

static ember_program_t program;
static ember_data_map_t map;
static ember_method_t method;
static ember_error_t error;
static _Alignas(EMBER_ALIGN) uint8_t arena[ARENA_SIZE];
static _Alignas(EMBER_ALIGN) uint8_t planned[PLANNED_SIZE];

// ---- what a generated firmware has as tables --------------------------------------

static ember_status_t init(const ember_delegate_info_t *info, void **handle) {
    *handle = NULL;
    return ember_fail(info->error, EMBER_BACKEND, "bench: it runs nothing");
}

static ember_status_t execute(void *handle, ember_node_t *call) {
    (void)handle;
    return ember_node_status(call);
}

static const ember_backend_t backend = {"BenchBackend", init, execute, NULL};
static const ember_backend_t *const backend_items[] = {&backend};
static const ember_backends_t backends = {backend_items, 1};
static const ember_kernel_t *const candidates[] = {&bench_kernel, NULL};
static const ember_operator_t operator_items[] = {
    {"aten::add.out", candidates, 4, 5, 0},
};
static const ember_operators_t operators = {operator_items, 1};
static const ember_registry_t registry = {&operators, &backends, &ember_changing};

// ---- the firmware -----------------------------------------------------------------

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic("bench: the runtime refuses the program");
    }
}

static void open(void) {
    ember_bytes_t data;
    check(ember_program_open(&program, bench_program,
                             (size_t)(bench_program_end - bench_program), &error));
    check(ember_data_map_open(&map, bench_data, (size_t)(bench_data_end - bench_data),
                              &error));
    ember_program_attach(&program, &map, 1);
    if (ember_program_named_data(&program, "none", 4, &data) != EMBER_NOT_FOUND) {
        ember_port_panic("bench: the program has no such data");
    }
}

static void load(void) {
    ember_method_meta_t meta;
    check(ember_method_meta(&program, "forward", &meta, &error));
    if (ember_method_meta_planned_size(&meta, 1) > sizeof(planned)) {
        ember_port_panic("bench: planned memory is too small");
    }
    const ember_span_t memories[] = {{planned, sizeof(planned)}};
    const ember_memory_t memory = {
        .method = {.data = arena, .size = sizeof(arena)},
        .planned = memories,
        .planned_count = meta.planned_count,
    };
    ember_port_mark_begin(EMBER_MARK_LOAD);
    check(ember_method_load(&method, &program, "forward", &registry, &memory, &error));
    ember_port_mark_end(EMBER_MARK_LOAD);
    ember_method_set_budget(&method, BUDGET);
}

int main(void) {
    ember_value_t value;
    open();
    load();
    for (uint32_t i = 0; i < method.meta.input_count; i++) {
        check(ember_method_input(&method, i, &value));
        check(ember_method_set_input(&method, i, &value, &error));
    }
    ember_port_mark_begin(EMBER_MARK_EXECUTE);
    check(ember_method_execute(&method, &error));
    ember_port_mark_end(EMBER_MARK_EXECUTE);
    check(ember_method_output(&method, 0, &value));
    ember_method_unload(&method);
    return 0;
}
