// SPDX-License-Identifier: Apache-2.0
// The functions of method.h and model.h for methods that were prepared when the
// firmware was built (prepared.h). Together with the core's status.c, tensor.c,
// execute.c and event.c this is the whole runtime of such firmware: it is linked
// instead of the core.
#include "ember/model.h"

#include <string.h>

ember_status_t ember_model_open_of(const ember_model_t *model, ember_program_t *program,
                                   ember_error_t *err) {
    (void)model, (void)program, (void)err;
    return EMBER_OK;
}

ember_status_t ember_model_start(const ember_model_t *model,
                                 const ember_model_method_t *placed,
                                 ember_method_t *method, const ember_program_t *program,
                                 ember_error_t *err) {
    const ember_prepared_t *prepared = placed->prepared;
    (void)program, (void)err;
    memset(method, 0, sizeof(*method));
    method->prepared = prepared;
    method->steps = (ember_step_t *)(uintptr_t)prepared->steps; // only loading writes
    method->meta.instruction_count = prepared->step_count;
    method->meta.input_count = prepared->input_count;
    method->meta.output_count = prepared->output_count;
    method->work = prepared->work;
    method->budget = EMBER_NO_BUDGET;
    method->temp = model->temp;
    method->temp_used = model->temp.size;
    return EMBER_OK;
}

void ember_method_unload(ember_method_t *method) {
    (void)method; // it has no delegates
}

// Its states all start at zero: those with other initial states cannot be prepared.
void ember_method_reset(ember_method_t *method) {
    for (uint32_t i = 0; i < method->cleared_count; i++) {
        memset(method->cleared[i].data, 0, method->cleared[i].size);
    }
}

// --- inputs and outputs ------------------------------------------------------------

static ember_status_t value_at(const ember_tensor_t *tensors, uint32_t count,
                               uint32_t index, ember_value_t *value) {
    if (index >= count) {
        return EMBER_BAD_ARGUMENT;
    }
    value->kind = EMBER_TENSOR;
    value->as_tensor = tensors[index];
    return EMBER_OK;
}

ember_status_t ember_method_input(ember_method_t *method, uint32_t index,
                                  ember_value_t *value) {
    const ember_prepared_t *prepared = method->prepared;
    return value_at(prepared->inputs, prepared->input_count, index, value);
}

ember_status_t ember_method_output(ember_method_t *method, uint32_t index,
                                   ember_value_t *value) {
    const ember_prepared_t *prepared = method->prepared;
    return value_at(prepared->outputs, prepared->output_count, index, value);
}

static bool fits(const ember_tensor_t *declared, const ember_tensor_t *given) {
    return declared->dtype == given->dtype && !declared->constant &&
           ember_tensor_same_shape(declared, given) &&
           (given->dim_order == NULL || ember_tensor_same_order(declared, given));
}

ember_status_t ember_method_set_input(ember_method_t *method, uint32_t index,
                                      const ember_value_t *value, ember_error_t *err) {
    ember_value_t now;
    ember_status_t status = ember_method_input(method, index, &now);
    if (status != EMBER_OK || value->kind != EMBER_TENSOR ||
        !fits(&now.as_tensor, &value->as_tensor)) {
        status = ember_fail(err, EMBER_BAD_ARGUMENT,
                            "input: another dtype, shape or dim_order than declared");
    } else if (now.as_tensor.data != value->as_tensor.data) {
        memcpy(now.as_tensor.data, value->as_tensor.data,
               ember_tensor_bytes(&now.as_tensor));
    }
    return ember_error_close(err, status, EMBER_NO_INSTRUCTION);
}

ember_status_t ember_method_resize_input(ember_method_t *method, uint32_t index,
                                         uint32_t rank, const int32_t *sizes,
                                         ember_error_t *err) {
    ember_value_t now;
    ember_status_t status = ember_method_input(method, index, &now);
    if (status != EMBER_OK || !ember_tensor_has_shape(&now.as_tensor, rank, sizes)) {
        status = ember_fail(err, EMBER_BAD_ARGUMENT,
                            "input: its shape is not the declared one");
    }
    return ember_error_close(err, status, EMBER_NO_INSTRUCTION);
}
