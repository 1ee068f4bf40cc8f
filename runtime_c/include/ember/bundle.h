// SPDX-License-Identifier: Apache-2.0
// Bundled programs (.bpte, schema BP08): programs with inputs and expected outputs, so
// that a device can check itself.
//
//     ember_bundle_open(&bundle, bytes, size, &err);
//     ember_program_open(&program, bundle.program.data, bundle.program.size, &err);
//     ... load a method ...
//     ember_bundle_find(&bundle, "forward", 0, &test, &err);
//     ember_bundle_load_inputs(&test, &method, &arena, &err);
//     ember_method_execute(&method, &err);
//     ember_bundle_compare(&test, &method, 1e-4, 1e-5, &err);
//
//  Lifetime  the bytes must outlive the bundle, its tests and the program inside.
//  Trust     the bytes are untrusted; everything is checked as it is read.
#ifndef EMBER_BUNDLE_H
#define EMBER_BUNDLE_H

#include "ember/method.h"

EMBER_C_BEGIN

// Read-only to the application.
typedef struct ember_bundle {
    ember_bytes_t flat;
    const uint8_t *suites; // vector of the tests of each method, in place
    ember_bytes_t program; // the .pte inside, aligned to EMBER_ALIGN
} ember_bundle_t;

// One test case of one method.
typedef struct ember_bundle_test {
    ember_bytes_t flat;
    const uint8_t *inputs;  // vectors of values, in place
    const uint8_t *outputs; // expected
} ember_bundle_test_t;

// Opens `size` bytes at `data`, aligned to 32 as the format requires.
//
// Returns EMBER_OK, or
//   EMBER_BAD_PROGRAM   malformed or truncated bytes, or no program in them
//   EMBER_UNSUPPORTED   another schema version
//   EMBER_BAD_ARGUMENT  data is NULL or unaligned
EMBER_MUST_USE ember_status_t ember_bundle_open(ember_bundle_t *bundle,
                                                const void *data, size_t size,
                                                ember_error_t *err);

// Test cases of the method called `name` (NUL-terminated).
uint32_t ember_bundle_test_count(const ember_bundle_t *bundle, const char *name);

// Test case `index` of the method called `name`; NOT_FOUND, or BAD_PROGRAM if it is
// malformed.
EMBER_MUST_USE ember_status_t ember_bundle_find(const ember_bundle_t *bundle,
                                                const char *name, uint32_t index,
                                                ember_bundle_test_t *test,
                                                ember_error_t *err);

// Gives every input of `method` the value of the test. Inputs without planned memory
// are copied to `arena`, which must then live until the outputs are read.
//
// BAD_ARGUMENT if a value does not fit the method, BAD_PROGRAM if one contradicts
// itself, NO_MEMORY if the arena is too small.
EMBER_MUST_USE ember_status_t ember_bundle_load_inputs(const ember_bundle_test_t *test,
                                                       ember_method_t *method,
                                                       ember_arena_t *arena,
                                                       ember_error_t *err);

// Compares the first outputs of `method` with the expected ones. dtype and shape must
// match. Floats of any width pass when |got - want| <= atol + rtol * |want|, NaN equals
// NaN, equal infinities match; everything else must be equal.
//
// EMBER_MISMATCH for the first output that differs: its index is err->instruction.
// BAD_PROGRAM as above.
EMBER_MUST_USE ember_status_t ember_bundle_compare(const ember_bundle_test_t *test,
                                                   ember_method_t *method, double rtol,
                                                   double atol, ember_error_t *err);

EMBER_C_END

#endif // EMBER_BUNDLE_H
