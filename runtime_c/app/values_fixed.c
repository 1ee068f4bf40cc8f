// SPDX-License-Identifier: Apache-2.0
// Inputs of methods that take only tensors of static shape; values.h. Their sizes in
// bytes are compared when they are read.
#include "values.h"

ember_status_t ember_values_resize(ember_method_t *method, uint32_t index,
                                   uint32_t rank, const int32_t *sizes,
                                   ember_error_t *err) {
    (void)method, (void)index, (void)rank, (void)sizes, (void)err;
    return EMBER_OK;
}

ember_status_t ember_values_read_other(int32_t file, const ember_values_head_t *head,
                                       ember_method_t *method, uint32_t index,
                                       ember_error_t *err) {
    (void)file, (void)head, (void)method, (void)index;
    return ember_fail(err, EMBER_BAD_ARGUMENT, "input: not a tensor");
}
