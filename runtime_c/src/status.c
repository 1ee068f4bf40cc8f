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
#else
ember_status_t ember_error_set(ember_error_t *err, ember_status_t status) {
    if (err != NULL) {
        *err = (ember_error_t){status, EMBER_NO_INSTRUCTION, NULL};
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
