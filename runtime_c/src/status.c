// SPDX-License-Identifier: Apache-2.0
// The first failure, and the meaning of each status.
#include "ember/status.h"

#if EMBER_ERROR_STRINGS
ember_status_t ember_error_set(ember_error_t *err, ember_status_t status,
                               const char *message) {
    if (err != NULL) {
        *err = (ember_error_t){status, EMBER_NO_INSTRUCTION, message};
    }
    return status;
}

ember_status_t ember_error_close(ember_error_t *err, ember_status_t status,
                                 uint32_t instruction) {
    if (status != EMBER_OK && err != NULL) {
        if (err->status != status) {
            err->message = ember_status_text(status);
        }
        err->status = status;
        err->instruction = instruction;
    }
    return status;
}
#else
ember_status_t ember_error_close(ember_error_t *err, ember_status_t status,
                                 uint32_t instruction) {
    if (status != EMBER_OK && err != NULL) {
        err->status = status;
        err->instruction = instruction;
        err->message = NULL;
    }
    return status;
}
#endif

#define EMBER_STATUS_CASE(name, value, meaning)                                        \
    case EMBER_##name:                                                                 \
        return meaning;

const char *ember_status_text(ember_status_t status) {
    switch (status) { EMBER_STATUS_LIST(EMBER_STATUS_CASE) }
    return "unknown status";
}
