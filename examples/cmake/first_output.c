// SPDX-License-Identifier: Apache-2.0
// Runs the model that ember_add_model() linked.
#include "ember/model.h"
#include "output.h"

static ember_program_t program;
static ember_method_t method;

int main(void) {
    check(ember_model_open(&program, NULL));
    check(ember_model_load(&method, &program, NULL, NULL));
    execute(&method);
    return 0;
}
