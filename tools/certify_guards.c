// SPDX-License-Identifier: Apache-2.0
// An application of certify.py: scratch and arena lie between guards, scratch is filled
// before each run. Says how much of it runs write to, and fails when outputs depend on
// what was in it, or when a guard has changed. CERTIFY_TEMP and CERTIFY_ARENA are the
// bytes that were planned.
#include "ember/model.h"
#include "ember/port.h"
#include "examples/firmware/log.h"

#include <string.h>

enum { GUARD = 512, ROUNDS = 2, MOST_OUTPUT = 4096 };
#define ROOM(bytes) (2 * GUARD + (bytes) + (0u - (uint32_t)(bytes)) % EMBER_ALIGN)

static ember_program_t program;
static ember_method_t method;
static ember_error_t error;
__attribute__((aligned(EMBER_ALIGN))) static uint8_t temp[ROOM(CERTIFY_TEMP)];
__attribute__((aligned(EMBER_ALIGN))) static uint8_t arena[ROOM(CERTIFY_ARENA)];
static uint8_t written[CERTIFY_TEMP + 1];
static uint8_t output[MOST_OUTPUT];

// Not literals: there may be no scratch.
static const uint32_t temp_bytes = CERTIFY_TEMP;
static const uint32_t arena_bytes = CERTIFY_ARENA;

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(error.message != NULL ? error.message
                                               : ember_status_text(status));
    }
}

static void guard(uint8_t *room, size_t bytes) {
    memset(room, GUARD % 251, GUARD);
    memset(room + GUARD + bytes, GUARD % 251, GUARD);
}

static bool is_whole(const uint8_t *room, size_t bytes) {
    bool whole = true;
    for (size_t i = 0; i < GUARD; i++) {
        whole =
            whole && room[i] == GUARD % 251 && room[GUARD + bytes + i] == GUARD % 251;
    }
    return whole;
}

static void load(void) {
    const ember_model_method_t *placed = &ember_model.methods[0];
    const ember_memory_t memory = {
        .method = {.data = arena + GUARD, .size = arena_bytes},
        .planned = placed->planned,
        .planned_count = placed->planned_count,
        .temp = {temp + GUARD, temp_bytes},
    };
    check(ember_model_open(&program, &error));
    check(ember_method_load(&method, &program, placed->name, &ember_model.registry,
                            &memory, &error));
    if (ember_model.parts.lend != NULL) {
        check(ember_model.parts.lend(&method, placed, &error));
    }
}

// Floats in [-1, 1], zeros of other types.
static void fill(const ember_tensor_t *tensor) {
    enum { HALF = 0x3000, HALF_STEP = 0x80 }; // 0.125 and up
    memset(tensor->data, 0, ember_tensor_bytes(tensor));
    for (uint32_t i = 0; i < tensor->numel; i++) {
        if (tensor->dtype == EMBER_F32) {
            ((float *)tensor->data)[i] = (float)(i % 17) / 8.0f - 1.0f;
        } else if (tensor->dtype == EMBER_F16) {
            ((uint16_t *)tensor->data)[i] = (uint16_t)(HALF + i % 17 * HALF_STEP);
        }
    }
}

static void fill_inputs(void) {
    ember_value_t input;
    for (uint32_t i = 0; ember_method_input(&method, i, &input) == EMBER_OK; i++) {
        if (input.kind == EMBER_TENSOR) {
            fill(&input.as_tensor);
        }
    }
}

static void run(uint32_t round) {
    const uint8_t byte = round == 0 ? 0xA5 : 0x3C;
    ember_value_t found;
    memset(temp + GUARD, byte, temp_bytes);
    fill_inputs();
    check(ember_method_execute(&method, &error));
    for (uint32_t i = 0; i < temp_bytes; i++) {
        written[i] |= temp[GUARD + i] != byte;
    }
    check(ember_method_output(&method, 0, &found));
    const size_t bytes = ember_tensor_bytes(&found.as_tensor) < MOST_OUTPUT
                             ? ember_tensor_bytes(&found.as_tensor)
                             : MOST_OUTPUT;
    if (round > 0 && memcmp(output, found.as_tensor.data, bytes) != 0) {
        ember_port_panic("outputs depend on what was in scratch");
    }
    memcpy(output, found.as_tensor.data, bytes);
}

static void say(const char *name, uint32_t number) {
    ember_port_log(name);
    log_number((int32_t)number);
}

int main(void) {
    uint32_t touched = 0;
    uint32_t highest = 0;
    guard(temp, temp_bytes);
    guard(arena, arena_bytes);
    load();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        run(round);
    }
    if (!is_whole(temp, temp_bytes) || !is_whole(arena, arena_bytes)) {
        ember_port_panic("something wrote beside scratch or arena");
    }
    for (uint32_t i = 0; i < temp_bytes; i++) {
        touched += written[i];
        highest = written[i] ? i + 1 : highest;
    }
    say("arena ", (uint32_t)method.arena.peak);
    say(" scratch ", (uint32_t)method.temp_used);
    say(" written ", touched);
    say(" highest ", highest);
    ember_port_log("\n");
    return 0;
}
