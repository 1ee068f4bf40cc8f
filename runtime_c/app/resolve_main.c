// SPDX-License-Identifier: Apache-2.0
// A tool of the SDK, not firmware: loads a program with every kernel there is and
// tells what each call takes, by the same code that loads it on the board. The SDK
// runs it at the board's pointer width, so that sizes are the board's.
//
//     methods=0,2   indices of the methods to load
//     data=N        number of data files
//     vector=N      bytes of a vector in streaming mode, on boards with SME
//     apart=N       tells what loading made of each node, from memory whose regions lie
//                   N bytes further apart; 0 (the default): does not
//
// The program, program.pte, the data files, a.ptd, b.ptd, .., the limits of what it may
// choose, kernels.txt (resolve_limits.h), and the answer, result.json, are in the
// current folder.
//
// First every call is prepared by a probe that notes what happens and goes on after a
// failure, so that all gaps are found at once. Without gaps the methods are then loaded
// with a table of the chosen kernels only, for the exact size of their arenas.
#include "ember/data.h"
#include "ember/method.h"
#include "ember/port.h"

#include "../backends/xnnpack/sme/vector.h"
#include "../src/method_state.h"
#include "resolve_limits.h"
#include "resolve_out.h"
#include "resolve_prepare.h"
#include "resolve_probe.h"

#include <string.h>

extern const ember_operators_t ember_operators;
extern const ember_backends_t ember_backends;

enum { LINE_SIZE = 512, MOST_DATA = 16, TEMP_SHARE = 2 };

static ember_program_t program;
static ember_data_map_t maps[MOST_DATA];
static ember_operators_t allowed; // what may be chosen of ember_operators
static uint32_t apart;            // bytes between regions of memory

// --- loading -----------------------------------------------------------------------

// Bytes of scratch and of the arena.
typedef struct sizes {
    size_t temp, arena;
} sizes_t;

// Loads method `name` with memory as large as it likes; or of `exact` sizes, the arena
// zeros.
static ember_status_t load(ember_method_t *method, const char *name,
                           const sizes_t *exact, const ember_registry_t *registry,
                           ember_error_t *error) {
    ember_method_meta_t meta;
    const ember_status_t status = ember_method_meta(&program, name, &meta, error);
    if (status != EMBER_OK) {
        return status;
    }
    ember_span_t *planned = resolve_take(meta.planned_count + 1, sizeof(*planned));
    for (uint32_t i = 0; i < meta.planned_count; i++) {
        const size_t size = (size_t)ember_method_meta_planned_size(&meta, i + 1);
        (void)resolve_take(apart, 1);
        planned[i] = (ember_span_t){resolve_take(size, 1), size};
    }
    (void)resolve_take(apart, 1);
    const size_t share = (resolve_room.size - resolve_room.used) / TEMP_SHARE;
    const size_t temp = exact != NULL ? exact->temp + EMBER_ALIGN : share;
    const ember_span_t scratch = {ember_arena_alloc(&resolve_room,
                                                    temp & ~(size_t)(EMBER_ALIGN - 1),
                                                    EMBER_ALIGN),
                                  temp};
    (void)resolve_take(apart, 1);
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
    return ember_method_load(method, &program, name, registry, &memory, error);
}

static const char *method_name(uint32_t index) {
    uint32_t length;
    const char *text = ember_program_method_name(&program, index, &length);
    char *name = resolve_take(length + 1, 1);
    memcpy(name, text, length);
    return name;
}

static void put_failure(ember_status_t status, const ember_error_t *error) {
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

static bool probe_method(uint32_t index) {
    const ember_arena_t before = resolve_room;
    const char *name = method_name(index);
    ember_error_t error = {EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
    static ember_method_t method;
    ember_method_meta_t meta;
    ember_status_t status = ember_method_meta(&program, name, &meta, &error);

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
    put_failure(status, &error);
    resolve_put("}");
    resolve_room = before;
    return status == EMBER_OK;
}

static void measure_method(uint32_t index, const ember_operators_t *operators) {
    const ember_arena_t before = resolve_room;
    const ember_registry_t registry = {operators, &ember_backends, &ember_changing};
    ember_error_t error = {EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
    static ember_method_t method;
    const ember_status_t status =
        load(&method, method_name(index), NULL, &registry, &error);

    resolve_put_number("  {\"index\": ", index);
    put_failure(status, &error);
    if (status == EMBER_OK) {
        resolve_put_number(", \"arena\": ", (int64_t)method.arena.peak);
        resolve_put_number(", \"temp\": ", (int64_t)method.temp_used);
        resolve_put_number(", \"slots\": ", method.slot_count);
        resolve_put_number(", \"changing\": ", method.parts != NULL);
        resolve_put_delegates(&method);
        ember_method_unload(&method);
    }
    resolve_put("}");
    resolve_room = before;
}

// Loads it again, as firmware in which nothing can change does, and tells of the
// states.
static void prepare_method(uint32_t index, const ember_operators_t *operators) {
    const ember_arena_t before = resolve_room;
    const ember_registry_t registry = {operators, &ember_backends, NULL};
    ember_error_t error = {EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
    static ember_method_t method;
    const char *name = method_name(index);
    ember_status_t status = load(&method, name, NULL, &registry, &error);
    const sizes_t exact = {method.temp_used, method.arena.peak};

    resolve_room = before;
    if (status == EMBER_OK) {
        status = load(&method, method_name(index), &exact, &registry, &error);
    }
    resolve_put_number("  {\"index\": ", index);
    put_failure(status, &error);
    if (status == EMBER_OK) {
        resolve_put_prepared(&method, operators,
                             (ember_span_t){method.arena.data, exact.arena});
    }
    resolve_put("}");
    resolve_room = before;
}

// --- files and command line --------------------------------------------------------

static ember_bytes_t read_file(const char *path) {
    const int32_t file = ember_port_open(path, EMBER_PORT_READ);
    const int64_t size = file < 0 ? -1 : ember_port_size(file);
    if (size < 0) {
        ember_port_panic("cannot read the program or its data");
    }
    uint8_t *data = resolve_take((size_t)size, 1);
    if (ember_port_read(file, data, (size_t)size) != size) {
        ember_port_panic("cannot read the program or its data");
    }
    ember_port_close(file);
    return (ember_bytes_t){data, (size_t)size};
}

static ember_status_t open_program(uint32_t data_count, ember_error_t *error) {
    const ember_bytes_t bytes = read_file("program.pte");
    ember_status_t status = ember_program_open(&program, bytes.data, bytes.size, error);
    for (uint32_t i = 0; status == EMBER_OK && i < data_count && i < MOST_DATA; i++) {
        const char path[] = {(char)('a' + i), '.', 'p', 't', 'd', '\0'};
        const ember_bytes_t data = read_file(path);
        status = ember_data_map_open(&maps[i], data.data, data.size, error);
    }
    if (status == EMBER_OK && data_count > 0) {
        ember_program_attach(&program, maps, data_count);
    }
    return status;
}

static uint32_t read_number(const char **text) {
    uint32_t value = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++) {
        value = value * 10 + (uint32_t)(**text - '0');
    }
    return value;
}

static void measure(const char *methods, const char *key,
                    void (*tell)(uint32_t index, const ember_operators_t *operators)) {
    const ember_operators_t operators = resolve_chosen();
    const char *comma = "";
    resolve_put(key);
    for (const char *at = methods; *at != '\0'; at += *at == ',') {
        resolve_put(comma);
        tell(read_number(&at), &operators);
        comma = ",\n";
    }
    resolve_put("]");
}

static void resolve(const char *methods) {
    const char *comma = "";
    bool good = true;
    resolve_allow(&allowed);
    resolve_put(", \"probed\": [\n");
    for (const char *at = methods; *at != '\0'; at += *at == ',') {
        resolve_put(comma);
        good = probe_method(read_number(&at)) && good;
        comma = ",\n";
    }
    resolve_put("]");
    if (good) {
        measure(methods, ",\n \"measured\": [\n", measure_method);
    }
    if (good && apart > 0) {
        measure(methods, ",\n \"prepared\": [\n", prepare_method);
    }
}

static void put_sizes(void) {
    resolve_put_number(",\n \"sizes\": {\"method\": ", sizeof(ember_method_t));
    resolve_put_number(", \"program\": ", sizeof(ember_program_t));
    resolve_put_number(", \"data_map\": ", sizeof(ember_data_map_t));
    resolve_put_number(", \"step\": ", sizeof(ember_step_t));
    resolve_put_number(", \"slot\": ", sizeof(ember_slot_t));
    resolve_put_number(", \"volatile\": ", sizeof(ember_volatile_t));
    resolve_put("}}\n");
}

// The text after `name=` in the command line `line`; it ends at a space or NUL.
static const char *option(const char *line, const char *name) {
    const char *found = strstr(line, name);
    return found != NULL ? found + strlen(name) : "";
}

int main(void) {
    static char line[LINE_SIZE];
    static char methods[LINE_SIZE];
    ember_error_t error = {EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
    size_t size;
    void *work = ember_port_workspace(&size);

    resolve_room = (ember_arena_t){.data = work, .size = size};
    (void)ember_port_arguments(line, sizeof(line));
    resolve_open();
    const char *list = option(line, "methods=");
    memcpy(methods, list, strcspn(list, " "));
    const char *data = option(line, "data=");
    const char *vector = option(line, "vector=");
    if (*vector != '\0') {
        ember_xnn_sme_model_vector = read_number(&vector);
    }
    const char *more = option(line, "apart=");
    apart = read_number(&more);
    (void)resolve_take(apart, 1);
    const ember_status_t status = open_program(read_number(&data), &error);
    allowed =
        ember_resolve_limits(&ember_operators, read_file("kernels.txt"), &resolve_room);
    if (allowed.items == NULL) {
        ember_port_exit(RESOLVE_OUT_OF_MEMORY);
    }
    resolve_put("{\"format\": 1");
    put_failure(status, &error);
    if (status == EMBER_OK) {
        resolve(methods);
    }
    put_sizes();
    resolve_close();
    return 0;
}
