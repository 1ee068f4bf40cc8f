// SPDX-License-Identifier: Apache-2.0
// Reads model.pte at run time and runs it with the operators of gen_operators_lib().
// All memory comes out of one arena, as large as the programs that are to be expected.
#include "ember/loader_file.h"
#include "output.h"

enum { ROOM_SIZE = 64 * 1024, METHOD_SIZE = 8 * 1024, TEMP_SIZE = 4 * 1024 };
enum { MOST_MEMORIES = 4 };

extern const ember_operators_t ember_operators;
extern const ember_backends_t ember_backends;

static const ember_registry_t registry = {&ember_operators, &ember_backends,
                                          &ember_changing};
static _Alignas(EMBER_ALIGN) uint8_t room[ROOM_SIZE];
static ember_arena_t arena = {.data = room, .size = sizeof(room)};
static ember_program_t program;
static ember_method_t method;
static ember_span_t planned[MOST_MEMORIES]; // used as long as the method

static ember_span_t take(size_t size) {
    const size_t whole = (size + EMBER_ALIGN - 1) / EMBER_ALIGN * EMBER_ALIGN;
    void *data = ember_arena_alloc(&arena, whole, EMBER_ALIGN);
    if (data == NULL) {
        ember_port_panic("the room is too small");
    }
    return (ember_span_t){data, whole};
}

static ember_bytes_t read_program(void) {
    ember_file_t file;
    ember_loader_t loader;
    ember_bytes_t bytes;

    check(ember_file_open(&file, "model.pte", &loader, NULL));
    check(ember_loader_read_all(&loader, &arena, EMBER_ALIGN, &bytes, NULL));
    ember_file_close(&file);
    return bytes;
}

static void load(void) {
    ember_method_meta_t meta;

    check(ember_method_meta(&program, "forward", &meta, NULL));
    if (meta.planned_count > MOST_MEMORIES) {
        ember_port_panic("the program has too many memories");
    }
    for (uint32_t i = 0; i < meta.planned_count; i++) {
        planned[i] = take(ember_method_meta_planned_size(&meta, i + 1));
    }
    const ember_span_t own = take(METHOD_SIZE);
    const ember_memory_t memory = {
        .method = {.data = own.data, .size = own.size},
        .planned = planned,
        .planned_count = meta.planned_count,
        .temp = take(TEMP_SIZE),
    };
    check(ember_method_load(&method, &program, "forward", &registry, &memory, NULL));
}

int main(void) {
    const ember_bytes_t bytes = read_program();
    check(ember_program_open(&program, bytes.data, bytes.size, NULL));
    load();
    execute(&method);
    return 0;
}
