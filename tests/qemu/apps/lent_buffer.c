// SPDX-License-Identifier: Apache-2.0
// One model for two users: each has its own state, in the buffer "total" that the
// program leaves to its caller.
#include "ember/model.h"
#include "ember/port.h"

enum { USERS = 2 };

static ember_program_t program;
static ember_method_t method;
static float totals[USERS][2];

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

int main(void) {
    ember_value_t input;
    check(ember_model_open(&program, NULL));
    check(ember_model_load(&method, &program, NULL, NULL));
    check(ember_method_input(&method, 0, &input));
    for (uint32_t turn = 0; turn < 5; turn++) {
        float *total = totals[turn % USERS];
        check(ember_method_set_attribute(&method, "total", total, sizeof(totals[0]),
                                         NULL));
        ((float *)input.as_tensor.data)[0] = (float)(turn + 1);
        check(ember_method_execute(&method, NULL));
    }
    const bool right = totals[0][0] == 1 + 3 + 5 && totals[1][0] == 2 + 4;
    ember_port_log(right ? "each its own\n" : "mixed up\n");
    return 0;
}
