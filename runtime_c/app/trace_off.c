// SPDX-License-Identifier: Apache-2.0
// Firmware without tracing.
#include "trace.h"

ember_status_t ember_trace_execute(ember_method_t *method, int32_t file,
                                   ember_error_t *err) {
    (void)method;
    (void)file;
    return ember_fail(err, EMBER_UNSUPPORTED, "trace: not included in this firmware");
}

ember_status_t ember_trace_inside(ember_method_t *method, ember_error_t *err) {
    (void)method;
    return ember_fail(err, EMBER_UNSUPPORTED, "trace: not included in this firmware");
}
