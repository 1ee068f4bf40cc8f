// SPDX-License-Identifier: Apache-2.0
// An application to copy: two models with two methods each in one firmware, run in
// turn. Each method has memory of its own; scratch is shared: one executes at a time.
//
//     ember build examples/models/pair/smooth.pte examples/models/pair/judge.pte
//         --board mps2-an386 --app examples/firmware/two_models.c
#include "ember_models.h"
#include "log.h"

enum { MODELS = 2, METHODS = 2, ROUNDS = 3 };

static const ember_model_t *const models[MODELS] = {&ember_model_smooth,
                                                    &ember_model_judge};
static const char *const names[MODELS][METHODS] = {{"forward", "energy"},
                                                   {"forward", "alarm"}};
static ember_program_t programs[MODELS];
static ember_method_t methods[MODELS][METHODS];

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

// A program is opened once, however many of its methods are loaded.
static void load(int m) {
    check(ember_model_open_of(models[m], &programs[m], NULL));
    for (int k = 0; k < METHODS; k++) {
        check(ember_model_load_of(models[m], &methods[m][k], &programs[m], names[m][k],
                                  NULL));
    }
}

// Feeds a ramp to the method and logs the first element of its output.
static void run(ember_method_t *method) {
    ember_value_t value;
    check(ember_method_input(method, 0, &value));
    for (uint32_t i = 0; i < value.as_tensor.numel; i++) {
        ((float *)value.as_tensor.data)[i] = (float)i / 8.0f;
    }
    check(ember_method_execute(method, NULL));
    check(ember_method_output(method, 0, &value));
    log_thousandths(((const float *)value.as_tensor.data)[0]);
    ember_port_log("\n");
}

int main(void) {
    load(0);
    load(1);
    for (int i = 0; i < ROUNDS * METHODS * MODELS; i++) {
        const int m = i % MODELS;
        const int k = i / MODELS % METHODS;
        ember_port_log(models[m]->name);
        ember_port_log(" ");
        ember_port_log(names[m][k]);
        ember_port_log(" ");
        run(&methods[m][k]);
    }
    return 0;
}
