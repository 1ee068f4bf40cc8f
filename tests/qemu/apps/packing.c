// SPDX-License-Identifier: Apache-2.0
// Loads every model of the firmware and tells of all weights that its delegates packed
// while they started: name, bytes, CRC-32.
#include "ember_models.h"

#include "../../../backends/xnnpack/graph/describe.c"
#include "../../../runtime_c/port/uart/crc32.h"
#include "../../../runtime_c/src/method_state.h"
#include "ember/port.h"

static ember_program_t program;
static ember_method_t method;
static ember_error_t error;

static uint32_t crc(const uint8_t *data, size_t size) {
    uint32_t sum = EMBER_CRC32_START;
    for (size_t i = 0; i < size; i++) {
        sum = ember_crc32_next(sum, data[i]);
    }
    return ~sum;
}

static void say_hex(uint32_t number) {
    char text[] = " ........";
    for (uint32_t i = 0; i < 8; i++) {
        text[1 + i] = "0123456789abcdef"[number >> (28 - 4 * i) & 15];
    }
    ember_port_log(text);
}

static void tell(const void *graph) {
    static ember_xnnpack_choice_t choice;
    for (uint32_t i = 0; ember_xnnpack_describe(graph, i, &choice); i++) {
        if (choice.packed != NULL) {
            ember_port_log("packed ");
            ember_port_log(choice.name);
            say_hex(choice.size);
            say_hex(crc(choice.packed, choice.size));
            ember_port_log("\n");
        }
    }
}

int main(void) {
    for (uint32_t i = 0; i < ember_model_count; i++) {
        const ember_model_t *model = ember_models[i];
        if (ember_model_open_of(model, &program, &error) != EMBER_OK ||
            ember_model_load_of(model, &method, &program, NULL, &error) != EMBER_OK) {
            ember_port_panic(error.message);
        }
        const uint32_t count = vector_count(method.meta.plan[PLAN_DELEGATES].at);
        for (uint32_t j = 0; j < count; j++) {
            tell(method.delegates[j].handle);
        }
    }
    return 0;
}
