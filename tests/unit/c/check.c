// SPDX-License-Identifier: Apache-2.0
// See check.h.
#include "check.h"

#include "ember/port.h"

static unsigned failures;

void check_log(int64_t value) {
    char text[24];
    char *at = text + sizeof(text) - 1;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    *at = '\0';
    do {
        *--at = (char)('0' + left % 10);
        left /= 10;
    } while (left != 0);
    if (value < 0) {
        *--at = '-';
    }
    ember_port_log(at);
}

static void fail(const char *what, const char *file, int line) {
    failures++;
    ember_port_log("FAIL ");
    ember_port_log(file);
    ember_port_log(":");
    check_log(line);
    ember_port_log(": ");
    ember_port_log(what);
}

void check_true(bool good, const char *what, const char *file, int line) {
    if (!good) {
        fail(what, file, line);
        ember_port_log("\n");
    }
}

void check_equal(int64_t got, int64_t want, const char *what, const char *file,
                 int line) {
    if (got != want) {
        fail(what, file, line);
        ember_port_log(" is ");
        check_log(got);
        ember_port_log(", want ");
        check_log(want);
        ember_port_log("\n");
    }
}

int check_run(const test_t *tests, size_t count) {
    unsigned failed = 0;
    for (size_t i = 0; i < count; i++) {
        failures = 0;
        tests[i].run();
        ember_port_log(failures == 0 ? "pass " : "FAILED ");
        ember_port_log(tests[i].name);
        ember_port_log("\n");
        failed += failures != 0;
    }
    return failed != 0;
}
