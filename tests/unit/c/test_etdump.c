// SPDX-License-Identifier: Apache-2.0
// ETDump on the device: costs of instructions and nodes, and the file of them. With a
// second argument, a folder, files are written there for test_etdump_device.py.
#include "ember/etdump.h"

#include <string.h>

#include "check.h"
#include "ember/port.h"
#include "subject.h"
#include "toys.h"

enum { MOST_INSTRUCTIONS = 16, MOST_NODES = 8, MOST_BYTES = 4096, TICK = 10 };

static ember_etdump_cost_t costs[MOST_INSTRUCTIONS];
static ember_etdump_cost_t nodes[MOST_NODES];
static ember_etdump_t dump;

// Rises by TICK with each look at it, and wraps soon.
static uint32_t now;

static uint32_t clock_of_test(void) {
    now += TICK;
    return now;
}

// --- a backend with nodes ------------------------------------------------------------

static ember_status_t init(const ember_delegate_info_t *info, void **handle) {
    *handle = (void *)(uintptr_t)info->blob.size; // so many nodes
    return EMBER_OK;
}

static ember_status_t execute_nodes(void *handle, ember_node_t *call) {
    const ember_delegate_tracer_t *tracer = ember_node_tracer(call);
    const uint32_t count = (uint32_t)(uintptr_t)handle;
    for (uint32_t node = 0; tracer != NULL && node < count; node++) {
        tracer->begin(tracer->context, node);
        now += TICK * node;
        tracer->end(tracer->context, node);
    }
    return EMBER_OK;
}

static const ember_backend_t backend = {"ToyBackend", init, execute_nodes, NULL};
static const ember_backend_t *const items[] = {&backend};
static const ember_backends_t backends = {items, 1};
static const ember_registry_t registry = {&toy_operators, &backends, &ember_changing};

static void load(subject_t *subject, const char *name) {
    CHECK_EQ(subject_open(subject, name), EMBER_OK);
    CHECK_EQ(subject_load(subject, "forward", &registry), EMBER_OK);
}

static void start(subject_t *subject, const uint32_t *origins, uint32_t node_count) {
    const ember_etdump_memory_t memory = {costs, MOST_INSTRUCTIONS, nodes, node_count,
                                          origins};
    CHECK_EQ(ember_etdump_start(&dump, &subject->method, &memory, clock_of_test),
             EMBER_OK);
}

static ember_status_t run(subject_t *subject) {
    return ember_etdump_execute(&dump, &subject->error);
}

// --- what is written -----------------------------------------------------------------

typedef struct written {
    uint8_t bytes[MOST_BYTES];
    size_t size;
    uint32_t calls;
    uint32_t fails_at; // this call; 0: none
    size_t largest;
} written_t;

static int32_t take(void *context, const void *data, size_t size) {
    written_t *written = context;
    written->calls++;
    written->largest = size > written->largest ? size : written->largest;
    if (written->calls == written->fails_at || written->size + size > MOST_BYTES) {
        return -1;
    }
    memcpy(written->bytes + written->size, data, size);
    written->size += size;
    return 0;
}

static written_t written;

static uint32_t word_at(size_t at) {
    uint32_t word;
    memcpy(&word, written.bytes + at, sizeof(word));
    return word;
}

static void keep(const char *name) {
    char path[256];
    const char *folder = test_argument(1);
    const size_t length = strlen(folder);
    if (length == 0 || length + strlen(name) + 2 > sizeof(path)) {
        return;
    }
    memcpy(path, folder, length);
    path[length] = '/';
    memcpy(path + length + 1, name, strlen(name) + 1);
    const int32_t file = ember_port_open(path, EMBER_PORT_WRITE);
    CHECK(file >= 0);
    CHECK_EQ(ember_port_write(file, written.bytes, written.size), 0);
    ember_port_close(file);
}

static void write_file(const char *name) {
    memset(&written, 0, sizeof(written));
    CHECK_EQ(ember_etdump_write(&dump, take, &written), EMBER_OK);
    CHECK_EQ(written.size, ember_etdump_size(&dump));
    CHECK_EQ(word_at(0), written.size - 4);
    CHECK(memcmp(written.bytes + 8, "ED00", 4) == 0);
    CHECK(written.largest <= 64);
    keep(name);
}

// --- what a reader sees --------------------------------------------------------------

// Byte 0 of the file is its size; offsets count from behind it.
static size_t target_of(size_t at) {
    return at + word_at(at);
}

static uint16_t half_at(size_t at) {
    uint16_t half;
    memcpy(&half, written.bytes + at, sizeof(half));
    return half;
}

// Where field `id` of a table is; 0: absent.
static size_t field(size_t table, uint32_t id) {
    const size_t fields = table - word_at(table);
    const size_t place = 4 + 2 * (size_t)id;
    CHECK(half_at(fields) >= 4 && half_at(fields + 2) >= 4);
    const uint16_t at = place < half_at(fields) ? half_at(fields + place) : 0;
    CHECK(at < half_at(fields + 2));
    return at != 0 ? table + at : 0;
}

static bool is_text(size_t at, const char *text) {
    const size_t length = strlen(text);
    return at % 4 == 0 && word_at(at) == length &&
           memcmp(written.bytes + at + 4, text, length + 1) == 0;
}

enum { NO_NODE = -1, METHOD = -1 };

typedef struct seen {
    const char *name;
    int32_t instruction; // METHOD: of none
    int32_t node;
    uint64_t begins;
    uint64_t ticks;
} seen_t;

// The profile of an event: name, instruction, node, times; chain and others are absent.
static void check_event(size_t event, const seen_t *want) {
    const size_t profile = target_of(field(event, 0));
    uint64_t times[2];
    CHECK(is_text(target_of(field(profile, 0)), want->name));
    CHECK_EQ(field(profile, 1), 0);
    CHECK_EQ((int32_t)word_at(field(profile, 2)), want->instruction);
    CHECK_EQ((int32_t)word_at(field(profile, 3)), want->node);
    CHECK_EQ(field(profile, 4), 0);
    CHECK_EQ(field(profile, 5), 0);
    CHECK_EQ(field(profile, 6) % 8, 0);
    memcpy(&times[0], written.bytes + field(profile, 6), sizeof(times[0]));
    memcpy(&times[1], written.bytes + field(profile, 7), sizeof(times[1]));
    CHECK_EQ(times[0], want->begins);
    CHECK_EQ(times[1], want->begins + want->ticks);
}

// The one run of the file that was written has exactly these events.
static void check_events(const seen_t *want, uint32_t count) {
    const size_t root = target_of(4);
    CHECK_EQ(field(root, 0), 0);
    const size_t runs = target_of(field(root, 1));
    CHECK_EQ(word_at(runs), 1);
    const size_t run_table = target_of(runs + 4);
    CHECK(is_text(target_of(field(run_table, 0)), "Execute"));
    CHECK_EQ(field(run_table, 1), 0);
    CHECK_EQ(field(run_table, 2), 0);
    const size_t events = target_of(field(run_table, 3));
    CHECK_EQ(word_at(events), count);
    for (uint32_t i = 0; i < count; i++) {
        check_event(target_of(events + 4 + 4 * (size_t)i), &want[i]);
    }
    CHECK_EQ(written.size % 4, 0);
    CHECK_EQ(written.calls, (written.size + 63) / 64); // in whole pieces
}

// --- tests ---------------------------------------------------------------------------

static void set_count(subject_t *subject, int64_t count) {
    const ember_value_t given = {.kind = EMBER_INT, .as_int = count};
    CHECK_EQ(ember_method_set_input(&subject->method, 0, &given, &subject->error),
             EMBER_OK);
}

static void loops_add_up(void) {
    subject_t subject;
    load(&subject, "loop.pte");
    start(&subject, NULL, 0);
    now = UINT32_MAX - 25; // it wraps in the first instructions
    set_count(&subject, 3);
    CHECK_EQ(run(&subject), EMBER_OK);
    static const uint32_t executions[] = {1, 1, 4, 4, 3, 3, 3};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 7; i++) {
        CHECK_EQ(costs[i].executions, executions[i]);
        CHECK_EQ(costs[i].ticks, TICK * executions[i]);
        sum += costs[i].ticks;
    }
    CHECK_EQ(dump.executions, 1);
    CHECK_EQ(dump.ticks, 2 * sum + TICK); // the clock, once between instructions
    set_count(&subject, 0);
    CHECK_EQ(run(&subject), EMBER_OK);
    CHECK_EQ(costs[2].executions, 5);
    CHECK_EQ(costs[2].ticks, TICK * 5);
    CHECK_EQ(dump.executions, 2);
    write_file("loop.etdp");
    start(&subject, NULL, 0);
    CHECK_EQ(costs[2].executions, 0);
    CHECK_EQ(dump.ticks, 0);
    subject_close(&subject);
}

static void what_was_not_executed_is_left_out(void) {
    subject_t subject;
    load(&subject, "loop.pte");
    start(&subject, NULL, 0);
    write_file("nothing.etdp");
    const size_t before = written.size;
    set_count(&subject, 0);
    CHECK_EQ(run(&subject), EMBER_OK);
    // Move, two calls of operators with two events each, jump; each in the list, too.
    CHECK_EQ(ember_etdump_size(&dump), before + 6 * (40 + 4));
    write_file("short.etdp");
    subject_close(&subject);
}

static void origins_number_instructions(void) {
    static const uint32_t origins[] = {10, 20, 30, 40, 50, 60, 70};
    subject_t subject;
    load(&subject, "loop.pte");
    start(&subject, origins, 0);
    CHECK_EQ(run(&subject), EMBER_OK);
    write_file("origins.etdp");
    const seen_t seen[] = {
        {"MOVE_CALL", 10, NO_NODE, 0, 10},
        {"native_call_fill.out", 20, NO_NODE, 10, 10},
        {"OPERATOR_CALL", 20, NO_NODE, 10, 10},
        {"native_call_less.int", 30, NO_NODE, 20, 40},
        {"OPERATOR_CALL", 30, NO_NODE, 20, 40},
        {"JF_CALL", 40, NO_NODE, 60, 40},
        {"native_call_add.out", 50, NO_NODE, 100, 30},
        {"OPERATOR_CALL", 50, NO_NODE, 100, 30},
        {"native_call_inc.int", 60, NO_NODE, 130, 30},
        {"OPERATOR_CALL", 60, NO_NODE, 130, 30},
        {"JF_CALL", 70, NO_NODE, 160, 30},
        {"Method::execute", METHOD, NO_NODE, 0, 2 * 190 + TICK},
    };
    check_events(seen, sizeof(seen) / sizeof(seen[0]));
    subject_close(&subject);
}

// "second" has 6 nodes; "first blob" has 10 and is called twice.
static void nodes_of_delegates(void) {
    subject_t subject;
    load(&subject, "delegates.pte");
    start(&subject, NULL, MOST_NODES);
    CHECK_EQ(run(&subject), EMBER_OK);
    CHECK_EQ(dump.nodes, MOST_NODES);
    CHECK_EQ(dump.lost, 6 + 10 + 10 - MOST_NODES);
    CHECK_EQ(run(&subject), EMBER_OK);
    CHECK_EQ(dump.nodes, MOST_NODES);
    for (uint32_t i = 0; i < MOST_NODES; i++) {
        CHECK_EQ(nodes[i].instruction, i < 6 ? 0 : 1);
        CHECK_EQ(nodes[i].node, i < 6 ? i : i - 6);
        CHECK_EQ(nodes[i].executions, 2);
        CHECK_EQ(nodes[i].ticks, 2 * TICK * (nodes[i].node + 1));
    }
    write_file("nodes.etdp");
    // Of an instruction and run: two looks at the clock and what each node takes.
    enum { SECOND = 2 * 280, FIRST = 2 * 660 };
    const seen_t seen[] = {
        {"", 0, 0, 0, 20},
        {"", 0, 1, 20, 40},
        {"", 0, 2, 60, 60},
        {"", 0, 3, 120, 80},
        {"", 0, 4, 200, 100},
        {"", 0, 5, 300, 120},
        {"DELEGATE_CALL", 0, NO_NODE, 0, SECOND},
        {"", 1, 0, SECOND, 20},
        {"", 1, 1, SECOND + 20, 40},
        {"DELEGATE_CALL", 1, NO_NODE, SECOND, FIRST},
        {"DELEGATE_CALL", 2, NO_NODE, SECOND + FIRST, FIRST},
        {"Method::execute", METHOD, NO_NODE, 0, SECOND + 2 * FIRST + 2 * 4 * TICK},
    };
    check_events(seen, sizeof(seen) / sizeof(seen[0]));
    const uint64_t ticks = nodes[0].ticks;
    CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_OK); // without hooks
    CHECK_EQ(nodes[0].ticks, ticks);
    subject_close(&subject);
}

static void failures(void) {
    subject_t subject;
    load(&subject, "fail_run.pte");
    ember_etdump_memory_t memory = {costs, subject.method.meta.instruction_count - 1,
                                    NULL, 0, NULL};
    CHECK_EQ(ember_etdump_start(&dump, &subject.method, &memory, clock_of_test),
             EMBER_NO_MEMORY);
    memory.instruction_count++;
    memory.instructions = test_alloc(memory.instruction_count * sizeof(costs[0]));
    CHECK_EQ(ember_etdump_start(&dump, &subject.method, &memory, clock_of_test),
             EMBER_OK);
    test_free(memory.instructions);
    memory.instructions = costs;
    CHECK_EQ(ember_etdump_start(&dump, &subject.method, &memory, clock_of_test),
             EMBER_OK);
    CHECK_EQ(run(&subject), EMBER_DATA_RANGE);
    CHECK_EQ(subject.error.instruction, 2);
    CHECK_EQ(dump.executions, 0);
    CHECK_EQ(costs[2].executions, 1); // as far as it came
    write_file("failed.etdp");

    const uint32_t calls = written.calls;
    for (uint32_t call = 1; call <= calls; call++) {
        memset(&written, 0, sizeof(written));
        written.fails_at = call;
        CHECK_EQ(ember_etdump_write(&dump, take, &written), EMBER_IO);
        CHECK_EQ(written.calls, call); // not once more
    }

    const struct ember_prepared *prepared = (const void *)&memory;
    subject.method.prepared = prepared;
    CHECK_EQ(ember_etdump_start(&dump, &subject.method, &memory, clock_of_test),
             EMBER_BAD_ARGUMENT);
    subject.method.prepared = NULL;
    subject_close(&subject);
}

TESTS(TEST(loops_add_up), TEST(what_was_not_executed_is_left_out),
      TEST(origins_number_instructions), TEST(nodes_of_delegates), TEST(failures))
