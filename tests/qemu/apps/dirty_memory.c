// SPDX-License-Identifier: Apache-2.0
// Loads a model of state into memory that is zero, then into memory that is not, and
// says whether two executions give the same outputs each time.
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

// Integers may be indices.
static void set_inputs(void) {
    ember_value_t value;
    for (uint32_t i = 0; ember_method_input(&method, i, &value) == EMBER_OK; i++) {
        const int fill = value.as_tensor.dtype == EMBER_F32;
        memset(value.as_tensor.data, fill, ember_tensor_bytes(&value.as_tensor));
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

static void load_and_run(int fill, uint32_t *hashes) {
    const ember_model_method_t *placed = &ember_model.methods[0];
    for (uint32_t i = 0; i < placed->planned_count; i++) {
        memset(placed->planned[i].data, fill, placed->planned[i].size);
    }
    check(ember_model_load(&method, &program, NULL, NULL));
    for (uint32_t run = 0; run < RUNS; run++) {
        set_inputs();
        check(ember_method_execute(&method, NULL));
        hashes[run] = hash_output();
    }
}

int main(void) {
    uint32_t clean[RUNS], dirty[RUNS];
    check(ember_model_open(&program, NULL));
    load_and_run(0, clean);
    load_and_run(0xA5, dirty);
    ember_port_log(memcmp(clean, dirty, sizeof(clean)) == 0 ? "same" : "different");
    ember_port_log(clean[0] != clean[1] ? ", with state\n" : ", without state\n");
    return 0;
}
