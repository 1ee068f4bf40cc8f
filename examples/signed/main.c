// SPDX-License-Identifier: Apache-2.0
// A device with a signed model that takes an update: factory.signed is in its first
// slot, update.signed arrives. It runs what it trusts, keeps what ran, and says which
// version.
//
// The flash is memory of this program. On a board, take flash_stm32f4.c or the like,
// and read the update from where it comes.
#include <string.h>

#include "ember/loader_file.h"
#include "ember/method.h"
#include "ember/port.h"
#include "release.h" // ember keygen release.pem --header release.h
#include "slots.h"

enum { SLOT_SIZE = 64 * 1024, JOURNAL_SIZE = 1024, ARENA_SIZE = 128 * 1024 };
enum { MOST_MEMORIES = 4, METHOD_SIZE = 8 * 1024, TEMP_SIZE = 16 * 1024 };

extern const ember_operators_t ember_operators;
extern const ember_backends_t ember_backends;

static const ember_registry_t registry = {&ember_operators, &ember_backends,
                                          &ember_changing};
static const ember_public_key_t *const keys[] = {&ember_key_release};
static const ember_trust_t trust = {&CRYPTO, keys, 1, "digits", 0};

static _Alignas(EMBER_ALIGN) uint8_t memory[AREAS][SLOT_SIZE];
static _Alignas(EMBER_ALIGN) uint8_t room[ARENA_SIZE];
static ember_arena_t arena;
static ember_program_t program;
static ember_method_t method;
static ember_data_map_t maps[EMBER_MOST_DATA];
static ember_span_t planned[MOST_MEMORIES];

static bool erase(uint32_t area) {
    memset(memory[area], 0xFF, SLOT_SIZE);
    return true;
}

static bool write(uint32_t area, uint32_t at, uint32_t word) {
    memcpy(memory[area] + at, &word, sizeof(word));
    return true;
}

static const flash_t flash = {
    {memory[0], memory[1], memory[2], memory[3]},
    {SLOT_SIZE, SLOT_SIZE, JOURNAL_SIZE, JOURNAL_SIZE},
    erase,
    write,
};

static void say(const char *what, ember_status_t status) {
    ember_port_log(what);
    ember_port_log(": ");
    ember_port_log(ember_status_text(status));
    ember_port_log("\n");
}

static ember_bytes_t read_file(const char *name) {
    ember_file_t file;
    ember_loader_t loader;
    ember_bytes_t bytes = {NULL, 0};
    if (ember_file_open(&file, name, &loader, NULL) == EMBER_OK) {
        if (ember_loader_read_all(&loader, &arena, EMBER_ALIGN, &bytes, NULL) !=
            EMBER_OK) {
            bytes.data = NULL;
        }
        ember_file_close(&file);
    }
    return bytes;
}

static ember_span_t take(size_t size) {
    const size_t whole = (size + EMBER_ALIGN - 1) / EMBER_ALIGN * EMBER_ALIGN;
    void *data = ember_arena_alloc(&arena, whole, EMBER_ALIGN);
    return (ember_span_t){data, data != NULL ? whole : 0};
}

static ember_status_t load(void) {
    ember_method_meta_t meta;
    const ember_status_t status = ember_method_meta(&program, "forward", &meta, NULL);
    if (status != EMBER_OK || meta.planned_count > MOST_MEMORIES) {
        return status != EMBER_OK ? status : EMBER_NO_MEMORY;
    }
    for (uint32_t i = 0; i < meta.planned_count; i++) {
        planned[i] = take(ember_method_meta_planned_size(&meta, i + 1));
    }
    const ember_span_t own = take(METHOD_SIZE);
    const ember_memory_t lent = {
        .method = {.data = own.data, .size = own.size},
        .planned = planned,
        .planned_count = meta.planned_count,
        .temp = take(TEMP_SIZE),
    };
    return ember_method_load(&method, &program, "forward", &registry, &lent, NULL);
}

// Opens, loads and executes the model in use. Verified again while it is opened, as the
// bytes are the same.
static ember_status_t run(const slots_t *slots) {
    ember_signed_t model;
    ember_value_t value;
    arena = (ember_arena_t){.data = room, .size = sizeof(room)};
    ember_status_t status = ember_verify_open(
        &trust, flash.areas[slots->active], slots->size, &program, maps, &model, NULL);
    status = status == EMBER_OK ? load() : status;
    status = status == EMBER_OK ? ember_method_input(&method, 0, &value) : status;
    if (status == EMBER_OK) {
        memset(value.as_tensor.data, 0, value.as_tensor.numel * sizeof(float));
        status = ember_method_execute(&method, NULL);
    }
    return status;
}

static void say_version(uint32_t version) {
    char text[] = "runs version 0\n";
    text[sizeof(text) - 3] = (char)('0' + version % 10);
    ember_port_log(text);
}

// A start of the device: false if there is nothing that it may run.
static bool start(slots_t *slots) {
    ember_status_t status = slots_open(slots, &flash, &trust);
    status = status == EMBER_OK ? run(slots) : status;
    if (status != EMBER_OK) {
        say("nothing to run", status);
        return false;
    }
    say_version(slots->model.version);
    if (slots->trial) {
        say("kept", slots_confirm(slots));
    }
    return true;
}

int main(void) {
    slots_t slots;
    for (uint32_t area = 0; area < AREAS; area++) {
        (void)erase(area);
    }
    arena = (ember_arena_t){.data = room, .size = sizeof(room)};
    const ember_bytes_t factory = read_file("factory.signed");
    if (factory.data == NULL || factory.size > SLOT_SIZE) {
        ember_port_panic("no factory.signed, or it is too large");
    }
    memcpy(memory[0], factory.data, factory.size);
    if (!start(&slots)) {
        return 1;
    }
    arena = (ember_arena_t){.data = room, .size = sizeof(room)};
    const ember_bytes_t update = read_file("update.signed");
    if (update.data == NULL) {
        return 0;
    }
    say("update", slots_install(&slots, update.data, update.size));
    return start(&slots) ? 0 : 1; // as after a reset
}
