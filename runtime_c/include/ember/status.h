// SPDX-License-Identifier: Apache-2.0
// Status codes, and the record of a first failure.
//
// Zero is success and every error is negative, so `if (status < 0)` and
// `if (status != EMBER_OK)` mean the same everywhere but in the `run` function of
// a control-flow node (see node.h), where a positive value is a jump.
#ifndef EMBER_STATUS_H
#define EMBER_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include "ember/config.h"

EMBER_C_BEGIN

// X(name, value, meaning). Values are ABI: add at the end, never renumber.
#define EMBER_STATUS_LIST(X)                                                           \
    X(OK, 0, "success")                                                                \
    X(BAD_PROGRAM, -1, "program bytes are malformed, truncated or contradictory")      \
    X(UNSUPPORTED, -2, "valid program, but this build has no kernel for it")           \
    X(NO_MEMORY, -3, "an arena or planned buffer is smaller than needed")              \
    X(BAD_ARGUMENT, -4, "the caller broke a documented precondition")                  \
    X(DATA_RANGE, -5, "a value read from tensor data is out of range")                 \
    X(NOT_FOUND, -6, "no method, key or file of that name")                            \
    X(BUDGET, -7, "the program would take more steps than its budget")                 \
    X(IO, -8, "a file or device could not be read")                                    \
    X(BACKEND, -9, "a delegate's backend failed")                                      \
    X(MISMATCH, -10, "an output differs from the expected one")                        \
    X(UNTRUSTED, -11, "not signed as the device requires")

#define EMBER_STATUS_ENUM(name, value, meaning) EMBER_##name = (value),
typedef enum ember_status { EMBER_STATUS_LIST(EMBER_STATUS_ENUM) } ember_status_t;
#undef EMBER_STATUS_ENUM

#define EMBER_NO_INSTRUCTION UINT32_MAX

// The first failure of an operation. Later failures do not overwrite it.
typedef struct ember_error {
    ember_status_t status;
    uint32_t instruction; // index in the method; EMBER_NO_INSTRUCTION: not in a call
    const char *message;  // static; NULL with EMBER_ERROR_STRINGS 0
} ember_error_t;

// Records a failure's message in `err` (may be NULL) and evaluates to `status`. Without
// messages it records nothing: ember_error_close() does that once, at the end of an
// operation.
#if EMBER_ERROR_STRINGS
#define ember_fail(err, status, message) ember_error_set((err), (status), (message))
ember_status_t ember_error_set(ember_error_t *err, ember_status_t status,
                               const char *message);
#else
#define ember_fail(err, status, message) ((void)(err), (status))
#endif

// Ends an operation: completes `err` (may be NULL) unless `status` is EMBER_OK, and
// returns `status`. Every public function with an `err` returns through this.
ember_status_t ember_error_close(ember_error_t *err, ember_status_t status,
                                 uint32_t instruction);

// The meaning of `status` from the list above; never NULL.
const char *ember_status_text(ember_status_t status);

EMBER_C_END

#endif // EMBER_STATUS_H
