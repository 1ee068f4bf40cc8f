// SPDX-License-Identifier: Apache-2.0
// Unit tests in C: one executable per topic, a table of test functions in each.
//
//     static void sums_do_not_wrap(void) { CHECK(...); CHECK_EQ(a, 3); }
//     TESTS(TEST(sums_do_not_wrap), TEST(...))
//
// Runs on the host and as a 32-bit process, so it uses port.h instead of stdio.
#ifndef EMBER_TEST_CHECK_H
#define EMBER_TEST_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct test {
    const char *name;
    void (*run)(void);
} test_t;

// Both note a failure and go on.
void check_true(bool good, const char *what, const char *file, int line);
void check_equal(int64_t got, int64_t want, const char *what, const char *file,
                 int line);

// Runs all tests, logs one line each; the exit status of main().
int check_run(const test_t *tests, size_t count);

// Logs `value` in decimal.
void check_log(int64_t value);

#define CHECK(condition) check_true((condition), #condition, __FILE__, __LINE__)
#define CHECK_EQ(got, want)                                                            \
    check_equal((int64_t)(got), (int64_t)(want), #got, __FILE__, __LINE__)

#define TEST(name) {#name, name}
#define TESTS(...)                                                                     \
    int main(void) {                                                                   \
        static const test_t all[] = {__VA_ARGS__};                                     \
        return check_run(all, sizeof(all) / sizeof(all[0]));                           \
    }

#endif // EMBER_TEST_CHECK_H
