// SPDX-License-Identifier: Apache-2.0
// What a method needs and takes, without loading it.
#include "plan.h"

static void check_devices(ember_flat_t *flat, const uint8_t *table) {
    const ember_vector_t devices = ember_flat_field(flat, table, PLAN_DEVICES).at;
    for (uint32_t i = 0; i < vector_count(devices); i++) {
        const uint8_t *device = ember_flat_item(flat, devices, i);
        if (ember_flat_field(flat, device, DEVICE_TYPE).number != 0) {
            flat_fail(flat, EMBER_UNSUPPORTED,
                      "method: memory on a device other than the CPU");
        }
    }
}

ember_status_t ember_method_meta(const ember_program_t *program, const char *name,
                                 ember_method_meta_t *meta, ember_error_t *err) {
    const ember_vector_t plans = program->root[PROGRAM_PLANS].at;
    ember_flat_t flat;
    ember_flat_begin(&flat, &program->flat, err);
    for (uint32_t i = 0; i < vector_count(plans); i++) {
        const uint8_t *table = ember_flat_item(&flat, plans, i);
        ember_plan_read(&flat, program, table, meta);
        if (ember_flat_is(meta->plan[PLAN_NAME].at, name)) {
            check_devices(&flat, table);
            return ember_error_close(err, flat.status, EMBER_NO_INSTRUCTION);
        }
    }
    (void)ember_fail(err, EMBER_NOT_FOUND, "program: no method of that name");
    return ember_error_close(err, EMBER_NOT_FOUND, EMBER_NO_INSTRUCTION);
}

size_t ember_method_meta_planned_size(const ember_method_meta_t *meta, uint32_t id) {
    const ember_vector_t sizes = meta->plan[PLAN_BUFFER_SIZES].at;
    return id < vector_count(sizes) ? vector_size(sizes, id) : 0;
}

static ember_status_t describe(const ember_method_meta_t *meta, uint32_t list,
                               uint32_t index, ember_value_t *value, bool *planned) {
    const ember_vector_t items = meta->plan[list].at;
    if (index >= vector_count(items)) {
        return EMBER_BAD_ARGUMENT;
    }
    ember_flat_t flat;
    ember_flat_begin(&flat, &meta->program->flat, NULL);
    const uint8_t *body = ember_plan_value(&flat, meta->plan[PLAN_VALUES].at,
                                           vector_u32(items, index), value);
    *planned = false;
    if (value->kind == EMBER_TENSOR) {
        ember_plan_tensor_t plan;
        (void)ember_plan_tensor(&flat, body, &plan);
        value->as_tensor = plan.tensor;
        *planned = plan.allocation != NULL;
    }
    return flat.status;
}

ember_status_t ember_method_meta_input(const ember_method_meta_t *meta, uint32_t index,
                                       ember_value_t *value, bool *planned) {
    return describe(meta, PLAN_INPUTS, index, value, planned);
}

ember_status_t ember_method_meta_output(const ember_method_meta_t *meta, uint32_t index,
                                        ember_value_t *value, bool *planned) {
    return describe(meta, PLAN_OUTPUTS, index, value, planned);
}
