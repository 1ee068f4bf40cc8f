// SPDX-License-Identifier: Apache-2.0
// A tool of the SDK, not firmware: loads a program with every available kernel and
// reports what each call takes, using the same code that loads it on the board. The SDK
// runs it at the board's pointer width, so that sizes are the board's.
//
//     methods=0,2   indices of the methods to load
//     data=N        number of data files
//     vector=N      bytes of a vector in streaming mode, on boards with SME
//      cpu=N         ember_cpu_t of the core, if the board may have less than its `isa`
//      apart=N       reports what loading made of each node, from memory whose regions
//                    are N bytes further apart; 0 (the default): does not
//
// The current folder has the program, program.pte, the data files, a.ptd, b.ptd, ..,
// the limits of what may be chosen, kernels.txt (resolve_limits.h), and gets the
// answer, result.json.
//
// First every call is prepared by a probe that records what happens and continues after
// a failure, so that all gaps are found at once. Methods without gaps are then loaded
// with a table of the chosen kernels only, into arenas of the exact size.
#include "ember/data.h"
#include "ember/method.h"
#include "ember/port.h"

#include "../port/common.h"
#include "../src/method_state.h"
#include "resolve_limits.h"
#include "resolve_load.h"
#include "resolve_out.h"
#include "resolve_probe.h"
#include "resolve_xnnpack.h"

#include <string.h>

extern const ember_operators_t ember_operators;

enum { LINE_SIZE = 512, MOST_DATA = 16 };

static ember_data_map_t maps[MOST_DATA];

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
    ember_status_t status =
        ember_program_open(&resolve_program, bytes.data, bytes.size, error);
    for (uint32_t i = 0; status == EMBER_OK && i < data_count && i < MOST_DATA; i++) {
        const char path[] = {(char)('a' + i), '.', 'p', 't', 'd', '\0'};
        (void)resolve_take(resolve_apart, 1);
        const ember_bytes_t data = read_file(path);
        status = ember_data_map_open(&maps[i], data.data, data.size, error);
    }
    if (status == EMBER_OK && data_count > 0) {
        ember_program_attach(&resolve_program, maps, data_count);
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

static void resolve(const char *methods, const ember_operators_t *allowed) {
    const char *comma = "";
    bool good = true;
    resolve_allow(allowed);
    resolve_put(", \"probed\": [\n");
    for (const char *at = methods; *at != '\0'; at += *at == ',') {
        resolve_put(comma);
        good = resolve_probe_method(read_number(&at)) && good;
        comma = ",\n";
    }
    resolve_put("]");
    if (good) {
        measure(methods, ",\n \"measured\": [\n", resolve_measure_method);
    }
    if (good && resolve_apart > 0) {
        measure(methods, ",\n \"prepared\": [\n", resolve_prepare_method);
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
        resolve_set_vector(read_number(&vector));
    }
    const char *cpu = option(line, "cpu=");
    if (*cpu != '\0') {
        ember_port_modelled = read_number(&cpu);
    }
    const char *more = option(line, "apart=");
    resolve_apart = read_number(&more);
    (void)resolve_take(resolve_apart, 1);
    const ember_status_t status = open_program(read_number(&data), &error);
    const ember_operators_t allowed =
        ember_resolve_limits(&ember_operators, read_file("kernels.txt"), &resolve_room);
    if (allowed.items == NULL) {
        ember_port_exit(RESOLVE_OUT_OF_MEMORY);
    }
    resolve_put("{\"format\": 1");
    resolve_put_failure(status, &error);
    if (status == EMBER_OK) {
        resolve(methods, &allowed);
    }
    put_sizes();
    resolve_close();
    return 0;
}
