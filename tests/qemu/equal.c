// SPDX-License-Identifier: Apache-2.0
// Executes the firmware's model with inputs that follow from a number, and prints what
// each execution gives: a line of its status and a hash of its outputs.
#include <string.h>

#include "ember/model.h"
#include "ember/port.h"

enum { ROUNDS = 32 };

static uint32_t state;

static uint32_t next(void) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

// Mostly about as large as what models see, sometimes an extreme.
static float number(void) {
    static const float extremes[] = {0.0F, -0.0F, 1e-40F, 1e6F, -1e6F, 127.5F};
    const uint32_t any = next();
    if (any % 64 == 0) {
        return extremes[(any >> 8) % (sizeof(extremes) / sizeof(extremes[0]))];
    }
    return (float)((int32_t)(any >> 12) - 0x80000) / 131072.0F;
}

// Noise, or much the same everywhere with little noise: layers answer these
// differently.
static void fill(const ember_tensor_t *tensor) {
    uint8_t *data = tensor->data;
    const size_t size = ember_tensor_bytes(tensor);
    const size_t width = tensor->element_size;
    const bool even = next() & 1;
    const float level = number();
    const uint32_t integer = next();
    for (size_t at = 0; at < size; at += width) {
        const float real = even ? level + number() / 16 : number();
        const uint32_t any = even ? integer + (next() & 7) : next();
        memset(data + at, 0, width);
        if (tensor->dtype == EMBER_F32) {
            memcpy(data + at, &real, sizeof(real));
        } else if (tensor->dtype == EMBER_B1 || width > 2) { // may be an index
            data[at] = any & 1;
        } else {
            memcpy(data + at, &any, width);
        }
    }
}

// Processors differ in the bits of a NaN.
static void settle(const ember_tensor_t *tensor) {
    float *items = tensor->data;
    const size_t size = tensor->dtype == EMBER_F32 ? ember_tensor_bytes(tensor) : 0;
    for (size_t at = 0; at < size / sizeof(float); at++) {
        items[at] = items[at] == items[at] ? items[at] : __builtin_nanf("");
    }
}

static uint32_t hash_of(const ember_tensor_t *tensor, uint32_t hash) {
    const uint8_t *data = tensor->data;
    settle(tensor);
    for (size_t at = 0; at < ember_tensor_bytes(tensor); at++) {
        hash = (hash ^ data[at]) * 16777619U;
    }
    return hash;
}

static void print(uint32_t status, uint32_t hash) {
    char line[20];
    for (int at = 0; at < 16; at++) {
        const uint32_t word = at < 8 ? status : hash;
        line[at] = "0123456789abcdef"[word >> (28 - 4 * (at % 8)) & 15];
    }
    memcpy(line + 16, "\n", 2);
    ember_port_log(line);
}

static void once(ember_method_t *method) {
    const ember_model_method_t *placed = &ember_model.methods[0];
    ember_value_t value;
    uint32_t hash = 2166136261U;
    for (uint32_t i = 0; i < placed->input_count; i++) {
        if (ember_method_input(method, i, &value) == EMBER_OK) {
            fill(&value.as_tensor);
        }
    }
    const ember_status_t status = ember_method_execute(method, NULL);
    for (uint32_t i = 0; i < placed->output_count; i++) {
        if (ember_method_output(method, i, &value) == EMBER_OK) {
            hash = hash_of(&value.as_tensor, hash);
        }
    }
    print((uint32_t)status, hash);
}

int main(void) {
    static ember_program_t program;
    static ember_method_t method;
    if (ember_model_open(&program, NULL) != EMBER_OK ||
        ember_model_load(&method, &program, NULL, NULL) != EMBER_OK) {
        ember_port_panic("the model does not load");
    }
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        state = round * 2654435761U;
        once(&method);
    }
    ember_port_exit(0);
}
