// SPDX-License-Identifier: Apache-2.0
// Tests on the board, or in its emulator: `pio test`. Their lines are Unity's.
#include "ember/model.h"
#include "ember/port.h"

static ember_program_t program;
static ember_method_t method;
static int failures;

static void report(const char *name, int passed) {
    failures += !passed;
    ember_port_log("test/test_model/test_main.c:1:");
    ember_port_log(name);
    ember_port_log(passed ? ":PASS\n" : ":FAIL: see its name\n");
}

int main(void) {
    ember_value_t value;

    report("test_opens", ember_model_open(&program, NULL) == EMBER_OK);
    report("test_loads", ember_model_load(&method, &program, NULL, NULL) == EMBER_OK);
    report("test_has_an_input", ember_method_input(&method, 0, &value) == EMBER_OK);
    report("test_executes", ember_method_execute(&method, NULL) == EMBER_OK);
    report("test_has_an_output", ember_method_output(&method, 0, &value) == EMBER_OK);
    ember_port_log("-----------------------\n5 Tests ");
    ember_port_log(failures == 0 ? "0 Failures 0 Ignored\nOK\n"
                                 : "1 Failures 0 Ignored\nFAIL\n");
    return 0; // PlatformIO takes another status for a crash
}
