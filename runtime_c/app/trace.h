// SPDX-License-Identifier: Apache-2.0
// Executes with a mark around each instruction, for counts per node. Shipped firmware
// links trace_off.c instead, which contains none of it.
#ifndef EMBER_APP_TRACE_H
#define EMBER_APP_TRACE_H

#include "ember/method.h"

// Executes `method`, and writes the index of each executed instruction to `file` as a
// u32, in order, UINT32_MAX last. UNSUPPORTED in firmware without it.
EMBER_MUST_USE ember_status_t ember_trace_execute(ember_method_t *method, int32_t file,
                                                  ember_error_t *err);

// Executes `method` again, with marks only around the nodes inside its delegates.
EMBER_MUST_USE ember_status_t ember_trace_inside(ember_method_t *method,
                                                 ember_error_t *err);

#endif // EMBER_APP_TRACE_H
