// SPDX-License-Identifier: Apache-2.0
// A tool of the SDK, not firmware: loads a program with every kernel there is and
// tells what each call takes, by the same code that loads it on the board. The SDK
// runs it at the board's pointer width, so that sizes are the board's.
//
//     methods=0,2   indices of the methods to load
//     data=N        number of data files
//
// The program, program.pte, the data files, a.ptd, b.ptd, .., the limits of what it may
// choose, kernels.txt (resolve_limits.h), and the answer, result.json, are in the
// current folder.
//
// First every call is prepared by a probe that notes what happens and goes on after a
// failure, so that all gaps are found at once. Without gaps the methods are then loaded
// with a table of the chosen kernels only, for the exact size of their arenas.
#include "../backends/xnnpack/describe.h"
#include "../src/method_state.h"

#include "ember/data.h"
#include "ember/model.h"
#include "ember/port.h"
#include "resolve_limits.h"

#include <string.h>

extern const ember_operators_t ember_operators;
extern const ember_backends_t ember_backends;

enum { LINE_SIZE = 512, BUFFER_SIZE = 4096, MOST_DATA = 16, NUMBER_SIZE = 24 };
enum { TEMP_SHARE = 2 };
enum { OUT_OF_MEMORY_STATUS = 3 };

typedef struct candidates {
    const ember_kernel_t **items; // in the operator's order; NULL: not chosen
    bool all;                     // a volatile node may need any of them
} candidates_t;

static ember_arena_t room;
static ember_program_t program;
static ember_data_map_t maps[MOST_DATA];
static int32_t out;
static char buffer[BUFFER_SIZE];
static size_t buffered;

// What may be chosen of ember_operators, and per operator what the calls of all methods
// chose.
static ember_operators_t allowed;
static candidates_t *choices;

// --- memory and output ---------------------------------------------------------

static void *take(size_t count, size_t size) {
    void *items = ember_arena_array(&room, count, size, EMBER_ALIGN);
    if (items == NULL) {
        ember_port_log("resolve: the program is too large for this tool\n");
        ember_port_exit(OUT_OF_MEMORY_STATUS);
    }
    return items;
}

static void flush(void) {
    if (ember_port_write(out, buffer, buffered) != 0) {
        ember_port_panic("cannot write result.json");
    }
    buffered = 0;
}

static void put(const char *text) {
    for (; *text != '\0'; text++) {
        if (buffered == sizeof(buffer)) {
            flush();
        }
        buffer[buffered++] = *text;
    }
}

static void put_number(const char *key, int64_t value) {
    char text[NUMBER_SIZE];
    char *at = text + sizeof(text) - 1;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *at = '\0';
    do {
        *--at = (char)('0' + left % 10);
        left /= 10;
    } while (left != 0);
    if (value < 0) {
        *--at = '-';
    }
    put(key);
    put(at);
}

static void put_text(const char *key, const char *text) {
    char one[] = {'\0', '\0', '\0'};
    put(key);
    put("\"");
    for (; text != NULL && *text != '\0'; text++) {
        const bool escaped = *text == '"' || *text == '\\';
        one[0] = escaped ? '\\' : *text;
        one[1] = escaped ? *text : '\0';
        put(one);
    }
    put("\"");
}

// --- the probe -------------------------------------------------------------------

typedef struct probe {
    const ember_operator_t **real; // of each operator of the probing table
    const ember_operator_t *table;
    bool first; // nothing put yet
} probe_t;

static probe_t probe;

static int32_t run_nothing(void *state) {
    (void)state;
    return EMBER_OK;
}

// The operator of a kernel call; NULL when there is no kernel of it.
static const ember_operator_t *real_operator(ember_method_t *method, uint32_t index) {
    ember_field_t call[2];
    (void)ember_method_instruction(method, index, call);
    return probe.real[method->operators[call[CALL_INDEX].number] - probe.table];
}

static void note_choice(const ember_operator_t *real, const ember_kernel_t *chosen) {
    candidates_t *choice = &choices[real - allowed.items];
    uint32_t index = 0;
    while (real->candidates[index] != chosen) {
        index++;
    }
    choice->items[index] = chosen;
}

static void put_candidate(const ember_kernel_t *kernel, ember_status_t status,
                          const char *message) {
    put_text("{\"kernel\": ", kernel->name);
    put_number(", \"status\": ", status);
    put_text(", \"message\": ", message);
    put("}");
}

// What every candidate says, also those after the one that will be chosen.
static void put_candidates(ember_node_t *node, const ember_operator_t *real,
                           void *state) {
    ember_method_t *method = node->method;
    const ember_kernel_t *const *candidate = real->candidates;
    put(", \"candidates\": [");
    for (; *candidate != NULL; candidate++) {
        const ember_kernel_t *const only[] = {*candidate, NULL};
        const ember_operator_t one = {real->name, only, 0, UINT8_MAX, real->flags};
        const ember_status_t status = ember_node_prepare(node, &one, &state);
        put_candidate(*candidate, status, method->error.message);
        put(candidate[1] != NULL ? ", " : "");
        method->temp_used = 0;
        method->error = (ember_error_t){EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
    }
    put("]");
}

static ember_status_t probe_prepare(ember_node_t *node, void *state) {
    const ember_kernel_t *const probing = node->kernel;
    const ember_kernel_t *chosen = NULL;
    ember_method_t *method = node->method;
    const size_t temp_used = method->temp_used;
    const ember_operator_t *real = real_operator(method, node->instruction);
    ember_status_t status = EMBER_UNSUPPORTED;

    if (method->parts == NULL) { // a load as if nothing could change: ask for the other
        return EMBER_BAD_PROGRAM;
    }
    put_number(probe.first ? "\n   {\"instruction\": " : ",\n   {\"instruction\": ",
               node->instruction);
    probe.first = false;
    method->temp_used = 0;
    if (real != NULL) {
        put_candidates(node, real, state);
        status = ember_node_prepare(node, real, &state);
        chosen = status == EMBER_OK ? node->kernel : NULL;
    }
    put_number(", \"status\": ", status);
    put_number(", \"known\": ", real != NULL);
    put_number(", \"scratch\": ", (int64_t)method->temp_used);
    if (chosen != NULL) {
        note_choice(real, chosen);
        put_number(", \"state\": ", chosen->state_size);
        put_text(", \"kernel\": ", chosen->name);
    } else {
        put_text(", \"message\": ", method->error.message);
    }
    put("}");

    node->kernel = probing;
    if (temp_used > method->temp_used) {
        method->temp_used = temp_used;
    }
    if (status == EMBER_UNSUPPORTED &&
        method->flat.status == EMBER_OK) { // a gap: noted, go on
        node->status = EMBER_OK;
        method->error = (ember_error_t){EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
        status = EMBER_OK;
    }
    return status;
}

static uint32_t largest_state(void) {
    uint32_t largest = 0;
    for (uint32_t i = 0; i < allowed.count; i++) {
        const ember_kernel_t *const *candidate = allowed.items[i].candidates;
        for (; *candidate != NULL; candidate++) {
            largest =
                (*candidate)->state_size > largest ? (*candidate)->state_size : largest;
        }
    }
    return largest;
}

// "name.overload" of an operator's two names.
static const char *full_name(const ember_field_t *names) {
    const ember_vector_t name = names[OPERATOR_NAME].at;
    const ember_vector_t overload = names[OPERATOR_OVERLOAD].at;
    const uint32_t length = vector_count(name);
    char *text = take(length + vector_count(overload) + 2, 1);
    memcpy(text, vector_items(name), length);
    if (vector_count(overload) > 0) {
        text[length] = '.';
        memcpy(text + length + 1, vector_items(overload), vector_count(overload));
    }
    return text;
}

// A sorted table with every operator of the plan; each has the probe as its kernel.
static ember_operators_t probing_table(const ember_method_meta_t *meta) {
    static ember_kernel_t kernel = {probe_prepare, run_nothing, 0, "probe"};
    static const ember_kernel_t *const only[] = {&kernel, NULL};
    const ember_vector_t operators = meta->plan[PLAN_OPERATORS].at;
    const uint32_t all = vector_count(operators);
    ember_flat_t flat;
    ember_flat_begin(&flat, &program.flat, NULL);
    ember_operator_t *items = take(all + 1, sizeof(*items));
    const ember_operator_t **real = take(all + 1, sizeof(*real));
    uint32_t count = 0;

    kernel.state_size = largest_state();
    for (uint32_t i = 0; i < all; i++) {
        ember_field_t names[2];
        ember_flat_read(&flat, ember_flat_item(&flat, operators, i), OPERATOR_FIELDS,
                        names);
        const ember_operator_t *found = ember_operators_find(&allowed, names);
        ember_operator_t entry = {NULL, only, 0, UINT8_MAX, 0};
        if (found != NULL) {
            entry = (ember_operator_t){NULL, only, found->min_args, found->max_args,
                                       found->flags};
        }
        entry.name = full_name(names);
        uint32_t at = count++;
        for (; at > 0 && strcmp(items[at - 1].name, entry.name) > 0; at--) {
            items[at] = items[at - 1];
            real[at] = real[at - 1];
        }
        items[at] = entry;
        real[at] = found;
    }
    probe.table = items;
    probe.real = real;
    return (ember_operators_t){items, count};
}

// --- backends that are missing ---------------------------------------------------

static ember_status_t init_missing(const ember_delegate_info_t *info, void **handle) {
    (void)info;
    *handle = NULL;
    return EMBER_OK;
}

static ember_status_t execute_missing(void *handle, ember_node_t *call) {
    (void)handle;
    (void)call;
    return EMBER_OK;
}

static bool has_backend(ember_vector_t id) {
    for (uint32_t i = 0; i < ember_backends.count; i++) {
        if (ember_flat_is(id, ember_backends.items[i]->id)) {
            return true;
        }
    }
    return false;
}

// The real backends, and one that does nothing for each missing id.
static ember_backends_t probing_backends(const ember_method_meta_t *meta) {
    const ember_vector_t delegates = meta->plan[PLAN_DELEGATES].at;
    ember_flat_t flat;
    ember_flat_begin(&flat, &program.flat, NULL);
    const uint32_t all = vector_count(delegates);
    const ember_backend_t **items =
        take(ember_backends.count + all + 1, sizeof(*items));
    uint32_t count = 0;
    for (; count < ember_backends.count; count++) {
        items[count] = ember_backends.items[count];
    }
    put(", \"missing_delegates\": [");
    const char *comma = "";
    for (uint32_t i = 0; i < all; i++) {
        ember_field_t delegate[2];
        ember_flat_read(&flat, ember_flat_item(&flat, delegates, i), DELEGATE_FIELDS,
                        delegate);
        const ember_vector_t id = delegate[DELEGATE_ID].at;
        if (has_backend(id)) {
            continue;
        }
        char *text = take(vector_count(id) + 1, 1);
        memcpy(text, vector_items(id), vector_count(id));
        ember_backend_t *missing = take(1, sizeof(*missing));
        *missing = (ember_backend_t){text, init_missing, execute_missing, NULL};
        items[count++] = missing;
        put_number(comma, i);
        comma = ", ";
    }
    put("]");
    return (ember_backends_t){items, count};
}

// --- loading -----------------------------------------------------------------------

// Loads method `name` with memory as large as it likes.
static ember_status_t load(ember_method_t *method, const char *name,
                           const ember_registry_t *registry, ember_error_t *error) {
    ember_method_meta_t meta;
    const ember_status_t status = ember_method_meta(&program, name, &meta, error);
    if (status != EMBER_OK) {
        return status;
    }
    ember_span_t *planned = take(meta.planned_count + 1, sizeof(*planned));
    for (uint32_t i = 0; i < meta.planned_count; i++) {
        const size_t size = (size_t)ember_method_meta_planned_size(&meta, i + 1);
        planned[i] = (ember_span_t){take(size, 1), size};
    }
    const size_t temp = (room.size - room.used) / TEMP_SHARE;
    const ember_span_t scratch = {
        ember_arena_alloc(&room, temp & ~(size_t)(EMBER_ALIGN - 1), EMBER_ALIGN), temp};
    const size_t left = (room.size - room.used) & ~(size_t)(EMBER_ALIGN - 1);
    const ember_memory_t memory = {
        .method = {.data = ember_arena_alloc(&room, left - EMBER_ALIGN, EMBER_ALIGN),
                   .size = left - EMBER_ALIGN},
        .planned = planned,
        .planned_count = meta.planned_count,
        .temp = scratch,
    };
    return ember_method_load(method, &program, name, registry, &memory, error);
}

static const char *method_name(uint32_t index) {
    uint32_t length;
    const char *text = ember_program_method_name(&program, index, &length);
    char *name = take(length + 1, 1);
    memcpy(name, text, length);
    return name;
}

static void put_failure(ember_status_t status, const ember_error_t *error) {
    put_number(", \"status\": ", status);
    if (status != EMBER_OK) {
        put_number(", \"instruction\": ", error->instruction == EMBER_NO_INSTRUCTION
                                              ? -1
                                              : (int64_t)error->instruction);
        put_text(", \"message\": ",
                 error->message != NULL ? error->message : ember_status_text(status));
    }
}

// A volatile node may need any candidate of its operator.
static void note_volatile(ember_method_t *method) {
    const char *comma = "";
    put(", \"volatile\": [");
    for (uint32_t i = 0; i < method->meta.instruction_count; i++) {
        if (method->steps[i].run != ember_volatile_run) {
            continue;
        }
        const ember_operator_t *real = real_operator(method, i);
        if (real != NULL) {
            choices[real - allowed.items].all = true;
        }
        put_number(comma, i);
        comma = ", ";
    }
    put("]");
}

static bool probe_method(uint32_t index) {
    const ember_arena_t before = room;
    const char *name = method_name(index);
    ember_error_t error = {EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
    static ember_method_t method;
    ember_method_meta_t meta;
    ember_status_t status = ember_method_meta(&program, name, &meta, &error);

    put_number("  {\"index\": ", index);
    if (status == EMBER_OK) {
        const ember_operators_t operators = probing_table(&meta);
        const ember_backends_t backends = probing_backends(&meta);
        const ember_registry_t registry = {&operators, &backends, &ember_changing};
        probe.first = true;
        put(", \"calls\": [");
        status = load(&method, name, &registry, &error);
        put("]");
        if (status == EMBER_OK) {
            note_volatile(&method);
            ember_method_unload(&method);
        }
    }
    put_failure(status, &error);
    put("}");
    room = before;
    return status == EMBER_OK;
}

// --- the second pass -----------------------------------------------------------------

static ember_operators_t chosen_table(void) {
    ember_operator_t *items = take(allowed.count + 1, sizeof(*items));
    uint32_t count = 0;
    for (uint32_t i = 0; i < allowed.count; i++) {
        const ember_operator_t *real = &allowed.items[i];
        uint32_t all = 0;
        while (real->candidates[all] != NULL) {
            all++;
        }
        const ember_kernel_t **kept = take(all + 1, sizeof(*kept));
        uint32_t kernels = 0;
        for (uint32_t k = 0; k < all; k++) {
            if (choices[i].all || choices[i].items[k] != NULL) {
                kept[kernels++] = real->candidates[k];
            }
        }
        if (kernels > 0) {
            items[count] = *real;
            items[count++].candidates = kept;
        }
    }
    return (ember_operators_t){items, count};
}

// The kernels of the nodes of each delegate that has such.
static void put_delegates(const ember_method_t *method) {
    const uint32_t count = vector_count(method->meta.plan[PLAN_DELEGATES].at);
    const char *comma = "";
    put(", \"delegates\": [");
    for (uint32_t i = 0; i < count; i++) {
        const struct ember_delegate *delegate = &method->delegates[i];
        ember_xnnpack_choice_t choice;
        if (delegate->backend == NULL ||
            strcmp(delegate->backend->id, "XnnpackBackend") != 0) {
            continue;
        }
        put(comma);
        put_number("{\"index\": ", i);
        put(", \"nodes\": [");
        for (uint32_t k = 0; ember_xnnpack_describe(delegate->handle, k, &choice);
             k++) {
            put_text(k > 0 ? ", {\"kernel\": " : "{\"kernel\": ", choice.kernel);
            put_text(", \"variant\": ", choice.variant);
            put("}");
        }
        put("]}");
        comma = ", ";
    }
    put("]");
}

static void measure_method(uint32_t index, const ember_operators_t *operators) {
    const ember_arena_t before = room;
    const ember_registry_t registry = {operators, &ember_backends, &ember_changing};
    ember_error_t error = {EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
    static ember_method_t method;
    const ember_status_t status = load(&method, method_name(index), &registry, &error);

    put_number("  {\"index\": ", index);
    put_failure(status, &error);
    if (status == EMBER_OK) {
        put_number(", \"arena\": ", (int64_t)method.arena.peak);
        put_number(", \"temp\": ", (int64_t)method.temp_used);
        put_number(", \"slots\": ", method.slot_count);
        put_number(", \"changing\": ", method.parts != NULL);
        put_delegates(&method);
        ember_method_unload(&method);
    }
    put("}");
    room = before;
}

// --- files and command line --------------------------------------------------------

static ember_bytes_t read_file(const char *path) {
    const int32_t file = ember_port_open(path, EMBER_PORT_READ);
    const int64_t size = file < 0 ? -1 : ember_port_size(file);
    if (size < 0) {
        ember_port_panic("cannot read the program or its data");
    }
    uint8_t *data = take((size_t)size, 1);
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

static void make_choices(void) {
    choices = take(allowed.count + 1, sizeof(*choices));
    for (uint32_t i = 0; i < allowed.count; i++) {
        uint32_t all = 0;
        while (allowed.items[i].candidates[all] != NULL) {
            all++;
        }
        choices[i].items = take(all + 1, sizeof(*choices[i].items));
    }
}

static void resolve(const char *methods) {
    const char *comma = "";
    bool good = true;
    make_choices();
    put(", \"probed\": [\n");
    for (const char *at = methods; *at != '\0'; at += *at == ',') {
        put(comma);
        good = probe_method(read_number(&at)) && good;
        comma = ",\n";
    }
    put("],\n \"measured\": [\n");
    comma = "";
    if (good) {
        const ember_operators_t operators = chosen_table();
        for (const char *at = methods; *at != '\0'; at += *at == ',') {
            put(comma);
            measure_method(read_number(&at), &operators);
            comma = ",\n";
        }
    }
    put("]");
}

static void put_sizes(void) {
    put_number(",\n \"sizes\": {\"method\": ", sizeof(ember_method_t));
    put_number(", \"program\": ", sizeof(ember_program_t));
    put_number(", \"data_map\": ", sizeof(ember_data_map_t));
    put_number(", \"step\": ", sizeof(ember_step_t));
    put_number(", \"slot\": ", sizeof(ember_slot_t));
    put_number(", \"volatile\": ", sizeof(ember_volatile_t));
    put("}}\n");
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

    room = (ember_arena_t){.data = work, .size = size};
    (void)ember_port_arguments(line, sizeof(line));
    out = ember_port_open("result.json", EMBER_PORT_WRITE);
    const char *list = option(line, "methods=");
    memcpy(methods, list, strcspn(list, " "));
    const char *data = option(line, "data=");
    const ember_status_t status = open_program(read_number(&data), &error);
    allowed = ember_resolve_limits(&ember_operators, read_file("kernels.txt"), &room);
    if (allowed.items == NULL) {
        ember_port_exit(OUT_OF_MEMORY_STATUS);
    }
    put("{\"format\": 1");
    put_failure(status, &error);
    if (status == EMBER_OK) {
        resolve(methods);
    }
    put_sizes();
    flush();
    ember_port_close(out);
    return 0;
}
