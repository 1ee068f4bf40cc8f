// SPDX-License-Identifier: Apache-2.0
// Loads a model of state into memory that is zero, then into memory that is not, then
// resets it, and says whether two executions give the same outputs each time.
#include "ember/model.h"
#include "ember/port.h"

#include <string.h>

enum { RUNS = 2 };

static ember_program_t program;
static ember_method_t method;

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

// Integers may be indices, such as the position in a cache: they are the run's number.
static void set_inputs(uint32_t run) {
    ember_value_t value;
    for (uint32_t i = 0; ember_method_input(&method, i, &value) == EMBER_OK; i++) {
        const ember_tensor_t *tensor = &value.as_tensor;
        const int fill = tensor->dtype == EMBER_F32 ? 0x3F : 0; // 0.747
        uint8_t *bytes = tensor->data;
        memset(bytes, fill, ember_tensor_bytes(tensor));
        for (uint32_t at = 0; fill == 0 && at < tensor->numel; at++) {
            bytes[at * tensor->element_size] = (uint8_t)run;
        }
    }
}

// A hash of the first output.
static uint32_t hash_output(void) {
    uint32_t hash = 1;
    ember_value_t value;
    check(ember_method_output(&method, 0, &value));
    const uint8_t *bytes = value.as_tensor.data;
    for (size_t i = 0; i < ember_tensor_bytes(&value.as_tensor); i++) {
        hash = hash * 31 + bytes[i];
    }
    return hash;
}

static void run_all(uint32_t *hashes) {
    for (uint32_t run = 0; run < RUNS; run++) {
        set_inputs(run);
        check(ember_method_execute(&method, NULL));
        hashes[run] = hash_output();
    }
}

static void load_and_run(int fill, uint32_t *hashes) {
    const ember_model_method_t *placed = &ember_model.methods[0];
    for (uint32_t i = 0; i < placed->planned_count; i++) {
        memset(placed->planned[i].data, fill, placed->planned[i].size);
    }
    check(ember_model_load(&method, &program, NULL, NULL));
    run_all(hashes);
}

// A reset does not change inputs.
static bool keeps_inputs(void) {
    ember_value_t value;
    check(ember_method_input(&method, 0, &value));
    uint8_t *byte = value.as_tensor.data;
    *byte = 0x5A;
    ember_method_reset(&method);
    return *byte == 0x5A;
}

int main(void) {
    uint32_t clean[RUNS], dirty[RUNS], again[RUNS];
    check(ember_model_open(&program, NULL));
    load_and_run(0, clean);
    load_and_run(0xFF, dirty); // NaN, which no mask hides
    const bool kept = keeps_inputs();
    run_all(again);
    ember_port_log(memcmp(clean, dirty, sizeof(clean)) == 0 ? "same" : "different");
    ember_port_log(kept && memcmp(clean, again, sizeof(clean)) == 0
                       ? ", also when reset"
                       : ", different when reset");
    ember_port_log(clean[0] != clean[1] ? ", with state\n" : ", without state\n");
    return 0;
}
