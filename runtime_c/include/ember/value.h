// SPDX-License-Identifier: Apache-2.0
// EValue: one value of a method, as applications, backends and kernels see it.
#ifndef EMBER_VALUE_H
#define EMBER_VALUE_H

#include "ember/tensor.h"

EMBER_C_BEGIN

// The union tags of the ET12 schema.
typedef enum ember_kind {
    EMBER_NONE = 1,
    EMBER_INT = 2,
    EMBER_BOOL = 3,
    EMBER_DOUBLE = 4,
    EMBER_TENSOR = 5,
    EMBER_STRING = 6,
    EMBER_INT_LIST = 7,
    EMBER_DOUBLE_LIST = 8,
    EMBER_BOOL_LIST = 9,
    EMBER_TENSOR_LIST = 10,
    EMBER_OPTIONAL_TENSOR_LIST = 11,
} ember_kind_t;

typedef struct ember_value {
    ember_kind_t kind;
    union {
        int64_t as_int;
        bool as_bool;
        double as_double;
        ember_tensor_t as_tensor;
        struct {
            const char *text; // not guaranteed to be NUL-terminated
            uint32_t length;  // bytes
        } as_string;
        struct {
            const void *items; // int64 value indices, doubles, bools or int32 indices
            uint32_t count;
        } as_list;
    };
} ember_value_t;

EMBER_C_END

#endif // EMBER_VALUE_H
