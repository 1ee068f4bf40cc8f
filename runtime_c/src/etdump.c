// SPDX-License-Identifier: Apache-2.0
// What the hooks of a method measure becomes an ETDump file.
//
// The file is a FlatBuffer (schema ED00, sdk/ember/files/etdump.py) whose
// offsets all point forward, so that it can be written front to back: tables of one
// run, a list of its events, the events, which all have the same size, and the names.
#include "ember/etdump.h"

#include "method_state.h"

enum { PIECE = 64 };

typedef struct stream {
    ember_etdump_write_fn write; // NULL: only counts
    void *context;
    uint32_t at; // bytes so far, including `piece`
    uint32_t used;
    bool failed;
    uint8_t piece[PIECE];
} stream_t;

// --- measuring ---------------------------------------------------------------------

static void add(ember_etdump_cost_t *cost, uint32_t ticks) {
    cost->ticks += ticks;
    cost->executions++;
}

static void begin_instruction(void *context, uint32_t instruction) {
    ember_etdump_t *dump = context;
    dump->instruction = instruction;
    dump->instruction_began = dump->clock();
}

static void end_instruction(void *context, uint32_t instruction,
                            ember_status_t status) {
    ember_etdump_t *dump = context;
    const uint32_t now = dump->clock();
    (void)status;
    add(&dump->memory.instructions[instruction], now - dump->instruction_began);
}

// The entry of an earlier execution, or a new one; NULL if there is no room.
static ember_etdump_cost_t *cost_of_node(ember_etdump_t *dump, uint32_t node) {
    for (uint32_t i = 0; i < dump->nodes; i++) {
        ember_etdump_cost_t *cost = &dump->memory.nodes[i];
        if (cost->instruction == dump->instruction && cost->node == node) {
            return cost;
        }
    }
    if (dump->nodes == dump->memory.node_count) {
        return NULL;
    }
    ember_etdump_cost_t *cost = &dump->memory.nodes[dump->nodes++];
    *cost = (ember_etdump_cost_t){.node = node, .instruction = dump->instruction};
    return cost;
}

static void begin_node(void *context, uint32_t node) {
    ember_etdump_t *dump = context;
    dump->node = cost_of_node(dump, node);
    dump->node_began = dump->clock();
}

static void end_node(void *context, uint32_t node) {
    ember_etdump_t *dump = context;
    const uint32_t now = dump->clock();
    (void)node;
    if (dump->node != NULL) {
        add(dump->node, now - dump->node_began);
    } else {
        dump->lost++;
    }
}

ember_status_t ember_etdump_start(ember_etdump_t *dump, ember_method_t *method,
                                  const ember_etdump_memory_t *memory,
                                  ember_etdump_clock_fn clock) {
    const uint32_t count = method->meta.instruction_count;
    if (method->prepared != NULL) {
        return EMBER_BAD_ARGUMENT;
    }
    if (memory->instruction_count < count) {
        return EMBER_NO_MEMORY;
    }
    *dump = (ember_etdump_t){.method = method, .memory = *memory, .clock = clock};
    for (uint32_t i = 0; i < count; i++) {
        memory->instructions[i] = (ember_etdump_cost_t){.instruction = i};
    }
    return EMBER_OK;
}

ember_status_t ember_etdump_execute(ember_etdump_t *dump, ember_error_t *err) {
    const ember_tracer_t tracer = {begin_instruction, end_instruction, dump};
    const ember_delegate_tracer_t inside = {
        .begin = begin_node, .end = end_node, .context = dump};
    ember_method_trace_delegates(dump->method, &inside);
    dump->began = dump->clock();
    const ember_status_t status =
        ember_method_execute_traced(dump->method, &tracer, err);
    dump->ticks += dump->clock() - dump->began;
    ember_method_trace_delegates(dump->method, NULL);
    dump->executions += status == EMBER_OK;
    return status;
}

// --- the file ----------------------------------------------------------------------

// A function of its own, so that the stack analysis knows its caller.
static __attribute__((noinline)) void flush(stream_t *stream) {
    if (!stream->failed) {
        stream->failed =
            stream->write(stream->context, stream->piece, stream->used) != 0;
    }
    stream->used = 0;
}

static void put(stream_t *stream, const void *data, uint32_t size) {
    const uint8_t *bytes = data;
    stream->at += size;
    for (uint32_t i = 0; stream->write != NULL && i < size; i++) {
        if (stream->used == PIECE) {
            flush(stream);
        }
        stream->piece[stream->used++] = bytes[i];
    }
}

static void put_u16s(stream_t *stream, const uint16_t *values, uint32_t count) {
    put(stream, values, count * (uint32_t)sizeof(*values));
}

static void put_u32(stream_t *stream, uint32_t value) {
    put(stream, &value, sizeof(value));
}

static void put_u64(stream_t *stream, uint64_t value) {
    put(stream, &value, sizeof(value));
}

static void put_zeros(stream_t *stream, uint32_t align) {
    static const uint8_t padding[8];
    put(stream, padding, (0u - stream->at) % align);
}

// --- names -------------------------------------------------------------------------

#define KERNEL_PREFIX "native_call_"

// By ember_event_kind_t; the first is for nodes, which have a number instead.
static const char *const calls[] = {"",          "OPERATOR_CALL", "DELEGATE_CALL",
                                    "MOVE_CALL", "JF_CALL",       "FREE_CALL"};
static const char *const framework = "Method::execute";
enum { CALLS = sizeof(calls) / sizeof(calls[0]), FRAMEWORK = CALLS, OPERATORS };

static uint32_t operator_count(const ember_method_t *method) {
    return vector_count(method->meta.plan[PLAN_OPERATORS].at);
}

// The text of name `index` after its prefix: calls, "Method::execute", operators
// without their namespace.
static const char *name_text(const ember_etdump_t *dump, uint32_t index) {
    if (index < CALLS) {
        return calls[index];
    }
    if (index == FRAMEWORK) {
        return framework;
    }
    const char *name = dump->method->operators[index - OPERATORS]->name;
    const char *end = strchr(name, ':');
    // unreached: the operators of a table have namespaces
    return end != NULL ? end + 2 : name;
}

static uint32_t prefix_length(uint32_t index) {
    return index < OPERATORS ? 0 : (uint32_t)sizeof(KERNEL_PREFIX) - 1;
}

static void put_name(stream_t *stream, const ember_etdump_t *dump, uint32_t index) {
    const char *text = name_text(dump, index);
    const uint32_t length = (uint32_t)strlen(text);
    put_u32(stream, prefix_length(index) + length);
    put(stream, KERNEL_PREFIX, prefix_length(index));
    put(stream, text, length + 1);
    put_zeros(stream, 4);
}

// Where name `index` is, if names begin at `at`.
static uint32_t name_at(const ember_etdump_t *dump, uint32_t at, uint32_t index) {
    stream_t count = {.at = at};
    for (uint32_t i = 0; i < index; i++) {
        put_name(&count, dump, i);
    }
    return count.at;
}

// --- events ------------------------------------------------------------------------

enum { EVENT_SIZE = 8, PROFILE_SIZE = 32, EVENT_BYTES = EVENT_SIZE + PROFILE_SIZE };
enum { PREFIX_SIZE = 4 };

// The vtables: sizes of vtable and table, then where each field is, or 0.
static const uint16_t dump_fields[] = {8, 8, 0, 4};
static const uint16_t run_fields[] = {12, 12, 4, 0, 0, 8};
static const uint16_t event_fields[] = {6, 8, 4};
static const uint16_t profile_fields[] = {20, PROFILE_SIZE, 4, 0, 8, 12, 0, 0, 16, 24};

enum {
    DUMP_FIELDS_AT = 12,
    RUN_FIELDS_AT = DUMP_FIELDS_AT + sizeof(dump_fields),
    EVENT_FIELDS_AT = RUN_FIELDS_AT + sizeof(run_fields),
    PROFILE_FIELDS_AT = EVENT_FIELDS_AT + sizeof(event_fields),
    DUMP_AT = (PROFILE_FIELDS_AT + sizeof(profile_fields) + 3) / 4 * 4,
    RUN_AT = DUMP_AT + 8 + 8, // after the list of the one run
    RUN_NAME_AT = RUN_AT + 12,
    EVENTS_AT = RUN_NAME_AT + 12, // the list of events
};

typedef struct writing {
    const ember_etdump_t *dump;
    stream_t stream;
    uint32_t names_at;
    uint64_t time; // when the next instruction begins
} writing_t;

static bool is_executed(const ember_etdump_t *dump, uint32_t index) {
    return dump->memory.instructions[index].executions > 0;
}

static uint32_t event_count(const ember_etdump_t *dump) {
    uint32_t count = 1 + dump->nodes; // including the method's
    for (uint32_t i = 0; i < dump->method->meta.instruction_count; i++) {
        const bool twice =
            ember_method_instruction_kind(dump->method, i) == EMBER_EVENT_KERNEL;
        count += is_executed(dump, i) ? 1u + twice : 0;
    }
    return count;
}

// An offset, relative to its own place.
static void put_offset(stream_t *stream, uint32_t target) {
    put_u32(stream, target - stream->at);
}

static void put_event(writing_t *writing, uint32_t name, uint32_t instruction,
                      uint32_t node, uint64_t begins, uint64_t ticks) {
    stream_t *stream = &writing->stream;
    put_u32(stream, stream->at - EVENT_FIELDS_AT);
    put_u32(stream, EVENT_SIZE - 4); // the profile's table is next
    put_u32(stream, stream->at - PROFILE_FIELDS_AT);
    put_offset(stream, name_at(writing->dump, writing->names_at, name));
    put_u32(stream, instruction);
    put_u32(stream, node);
    put_u64(stream, begins);
    put_u64(stream, begins + ticks);
}

static uint32_t origin(const ember_etdump_t *dump, uint32_t instruction) {
    const uint32_t *origins = dump->memory.origins;
    return origins != NULL ? origins[instruction] : instruction;
}

// The operator of a kernel call.
static uint32_t operator_of(const ember_method_t *method, uint32_t instruction) {
    ember_flat_t flat = method->flat;
    ember_field_t fields[2];
    const uint8_t *body =
        ember_plan_value(&flat, method->meta.instructions, instruction, NULL);
    ember_flat_read(&flat, body, CALL_FIELDS, fields);
    return fields[CALL_INDEX].number;
}

static void put_nodes(writing_t *writing, uint32_t instruction) {
    const ember_etdump_t *dump = writing->dump;
    uint64_t time = writing->time;
    for (uint32_t i = 0; i < dump->nodes; i++) {
        const ember_etdump_cost_t *cost = &dump->memory.nodes[i];
        if (cost->instruction == instruction) {
            put_event(writing, 0, origin(dump, instruction), cost->node, time,
                      cost->ticks);
            time += cost->ticks;
        }
    }
}

static void put_instruction(writing_t *writing, uint32_t index) {
    const ember_etdump_t *dump = writing->dump;
    const uint64_t ticks = dump->memory.instructions[index].ticks;
    const uint32_t as = origin(dump, index);
    const ember_event_kind_t kind = ember_method_instruction_kind(dump->method, index);
    if (kind == EMBER_EVENT_KERNEL) {
        put_event(writing, OPERATORS + operator_of(dump->method, index), as, UINT32_MAX,
                  writing->time, ticks);
    }
    put_nodes(writing, index);
    put_event(writing, kind, as, UINT32_MAX, writing->time, ticks);
    writing->time += ticks;
}

static void put_head(stream_t *stream, uint32_t size, uint32_t events) {
    put_u32(stream, size - PREFIX_SIZE);
    put_offset(stream, DUMP_AT);
    put(stream, "ED00", 4);
    put_u16s(stream, dump_fields, sizeof(dump_fields) / 2);
    put_u16s(stream, run_fields, sizeof(run_fields) / 2);
    put_u16s(stream, event_fields, sizeof(event_fields) / 2);
    put_u16s(stream, profile_fields, sizeof(profile_fields) / 2);
    put_zeros(stream, 4);
    put_u32(stream, DUMP_AT - DUMP_FIELDS_AT);
    put_u32(stream, 4); // the list of runs is next
    put_u32(stream, 1);
    put_offset(stream, RUN_AT);
    put_u32(stream, RUN_AT - RUN_FIELDS_AT);
    put_offset(stream, RUN_NAME_AT);
    put_offset(stream, EVENTS_AT);
    put_u32(stream, 7);
    put(stream, "Execute", 8);
    put_u32(stream, events);
}

static void put_file(writing_t *writing, uint32_t size, uint32_t events,
                     uint32_t events_at) {
    const ember_etdump_t *dump = writing->dump;
    stream_t *stream = &writing->stream;
    put_head(stream, size, events);
    for (uint32_t i = 0; i < events; i++) {
        put_offset(stream, events_at + i * EVENT_BYTES);
    }
    put_zeros(stream, 8);
    for (uint32_t i = 0; i < dump->method->meta.instruction_count; i++) {
        if (is_executed(dump, i)) {
            put_instruction(writing, i);
        }
    }
    put_event(writing, FRAMEWORK, UINT32_MAX, UINT32_MAX, 0, dump->ticks);
    for (uint32_t i = 0; i < OPERATORS + operator_count(dump->method); i++) {
        put_name(stream, dump, i);
    }
    flush(stream);
}

static uint32_t first_event(uint32_t events) {
    return (EVENTS_AT + 4 + 4 * events + 7) / 8 * 8;
}

size_t ember_etdump_size(const ember_etdump_t *dump) {
    const uint32_t events = event_count(dump);
    const uint32_t names_at = first_event(events) + events * EVENT_BYTES;
    return name_at(dump, names_at, OPERATORS + operator_count(dump->method));
}

ember_status_t ember_etdump_write(const ember_etdump_t *dump,
                                  ember_etdump_write_fn write, void *context) {
    const uint32_t events = event_count(dump);
    const uint32_t events_at = first_event(events);
    writing_t writing = {
        .dump = dump,
        .stream = {.write = write, .context = context},
        .names_at = events_at + events * EVENT_BYTES,
    };
    put_file(&writing, (uint32_t)ember_etdump_size(dump), events, events_at);
    return writing.stream.failed ? EMBER_IO : EMBER_OK;
}
