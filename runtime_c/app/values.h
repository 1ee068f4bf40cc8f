// SPDX-License-Identifier: Apache-2.0
// Values of a method as files of the host: what the SDK writes for inputs and reads
// back for outputs (sdk/ember/cases/inputs.py is the other side).
//
//     file    u32 "EMV1", u32 count, then count values
//     value   u32 kind (ember_kind_t), u32 dtype, u32 rank, u32 bytes,
//             i32 sizes[rank], bytes of payload, zeros up to a multiple of 4
//
// Little endian. The payload is a tensor's data in its dim order, the i64 of an int or
// a bool, the f64 of a double, or a string; none and lists have no payload.
#ifndef EMBER_APP_VALUES_H
#define EMBER_APP_VALUES_H

#include "ember/method.h"

#define EMBER_VALUES_MAGIC 0x31564D45u // "EMV1"

typedef struct ember_values_head {
    uint32_t kind;
    uint32_t dtype;
    uint32_t rank;
    uint32_t bytes;
} ember_values_head_t;

// Inputs other than tensors of static shape: values_any.c reads them, values_fixed.c
// refuses them and is for methods without such inputs.
EMBER_MUST_USE ember_status_t ember_values_resize(ember_method_t *method,
                                                  uint32_t index, uint32_t rank,
                                                  const int32_t *sizes,
                                                  ember_error_t *err);
EMBER_MUST_USE ember_status_t ember_values_read_other(int32_t file,
                                                      const ember_values_head_t *head,
                                                      ember_method_t *method,
                                                      uint32_t index,
                                                      ember_error_t *err);

// Reads the values at the position of `file` straight into the method's inputs.
// EMBER_IO if the file ends early or is not a values file.
EMBER_MUST_USE ember_status_t ember_values_read(int32_t file, ember_method_t *method,
                                                ember_error_t *err);

// Writes one value without the head of a file.
EMBER_MUST_USE ember_status_t ember_value_write(int32_t file,
                                                const ember_value_t *value);

// Writes all outputs of `method` at the position of `file`, head included.
EMBER_MUST_USE ember_status_t ember_values_write(int32_t file, ember_method_t *method);

#endif // EMBER_APP_VALUES_H
