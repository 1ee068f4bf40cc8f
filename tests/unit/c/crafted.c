// SPDX-License-Identifier: Apache-2.0
// Says what becomes of crafted files: one line for each, "<file> <stage> <status>".
//
//     crafted FOLDER FILE...
//
// The stage is where it ended: open, load, execute. A .ptd is opened for the program
// external.pte.
#include <string.h>

#include "check.h"
#include "ember/port.h"
#include "subject.h"
#include "toys.h"

enum { BUDGET = 10000 };

static ember_status_t try_program(subject_t *subject, const char **stage) {
    uint32_t length;
    char name[32] = {0};
    const char *text = ember_program_method_name(&subject->program, 0, &length);
    *stage = "load";
    if (text == NULL || length >= sizeof(name)) {
        return EMBER_NOT_FOUND;
    }
    memcpy(name, text, length);
    ember_status_t status = subject_load(subject, name, &toy_registry);
    if (status == EMBER_OK) {
        *stage = "execute";
        ember_method_set_budget(&subject->method, BUDGET);
        status = ember_method_execute(&subject->method, &subject->error);
        subject_close(subject);
    }
    return status;
}

static ember_status_t try_file(const char *name, const char **stage) {
    static ember_data_map_t map;
    const ember_bytes_t bytes = test_file(name);
    subject_t subject;
    *stage = "open";
    if (strstr(name, ".ptd") != NULL) {
        const ember_status_t status =
            ember_data_map_open(&map, bytes.data, bytes.size, NULL);
        if (status != EMBER_OK) {
            return status;
        }
        if (subject_open(&subject, "external.pte") != EMBER_OK) {
            ember_port_panic("external.pte");
        }
        ember_program_attach(&subject.program, &map, 1);
        return try_program(&subject, stage);
    }
    const ember_status_t status = subject_open_bytes(&subject, bytes);
    return status == EMBER_OK ? try_program(&subject, stage) : status;
}

int main(void) {
    for (uint32_t i = 1; test_argument(i)[0] != '\0'; i++) {
        char name[64] = {0};
        const char *stage;
        strncpy(name, test_argument(i), sizeof(name) - 1);
        const ember_status_t status = try_file(name, &stage);
        ember_port_log(name);
        ember_port_log(" ");
        ember_port_log(stage);
        ember_port_log(" ");
        check_log(status);
        ember_port_log("\n");
    }
    return 0;
}
