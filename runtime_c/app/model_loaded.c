// SPDX-License-Identifier: Apache-2.0
// The parts of loading that only models need whose programs are read on the device.
#include "ember/model.h"

ember_status_t ember_model_attach(const ember_model_t *model, ember_program_t *program,
                                  ember_error_t *err) {
    ember_status_t status = EMBER_OK;
    for (uint32_t i = 0; status == EMBER_OK && i < model->data_count; i++) {
        status = ember_data_map_open(&model->maps[i], model->data[i].data,
                                     model->data[i].size, err);
    }
    if (status == EMBER_OK) {
        ember_program_attach(program, model->maps, model->data_count);
    }
    return status;
}

ember_status_t ember_model_open_of(const ember_model_t *model, ember_program_t *program,
                                   ember_error_t *err) {
    const ember_status_t status =
        ember_program_open(program, model->program.data, model->program.size, err);
    return status == EMBER_OK && model->parts.attach != NULL
               ? model->parts.attach(model, program, err)
               : status;
}

static ember_status_t lend_input(ember_method_t *method, uint32_t index,
                                 const ember_span_t *span, ember_error_t *err) {
    ember_value_t value;
    const ember_status_t status = ember_method_input(method, index, &value);
    if (status != EMBER_OK) {
        return status;
    }
    value.as_tensor.data = span->data;
    return ember_method_set_input(method, index, &value, err);
}

ember_status_t ember_model_lend(ember_method_t *method,
                                const ember_model_method_t *placed,
                                ember_error_t *err) {
    ember_status_t status = EMBER_OK;
    for (uint32_t i = 0; status == EMBER_OK && i < placed->input_count; i++) {
        if (placed->inputs[i].data != NULL) {
            status = lend_input(method, i, &placed->inputs[i], err);
        }
    }
    for (uint32_t i = 0; status == EMBER_OK && i < placed->output_count; i++) {
        const ember_span_t *span = &placed->outputs[i];
        if (span->data != NULL) {
            status = ember_method_set_output(method, i, span->data, span->size, err);
        }
    }
    return status;
}

ember_status_t ember_model_start(const ember_model_t *model,
                                 const ember_model_method_t *placed,
                                 ember_method_t *method, const ember_program_t *program,
                                 ember_error_t *err) {
    const ember_memory_t memory = {
        .method = {.data = placed->arena.data, .size = placed->arena.size},
        .planned = placed->planned,
        .planned_count = placed->planned_count,
        .temp = model->temp,
    };
    if (model->spent != NULL && *model->spent) {
        return ember_fail(
            err, EMBER_BAD_ARGUMENT,
            "model: loaded before; scratch has since overwritten its payloads");
    }
    const ember_status_t status = ember_method_load(method, program, placed->name,
                                                    &model->registry, &memory, err);
    if (status == EMBER_OK && model->spent != NULL) {
        *model->spent = true;
    }
    return status == EMBER_OK && model->parts.lend != NULL
               ? model->parts.lend(method, placed, err)
               : status;
}
