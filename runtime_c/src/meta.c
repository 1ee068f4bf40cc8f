// SPDX-License-Identifier: Apache-2.0
// What a method needs and takes, without loading it.
#include "plan.h"

static const uint8_t *find_plan(const ember_program_t *program, const char *name) {
    const ember_vector_t plans = ember_flat_vector(program->root, PROGRAM_PLANS);
    uint32_t length = 0;
    while (name[length] != '\0') {
        length++;
    }
    for (uint32_t i = 0; i < plans.count; i++) {
        const uint8_t *plan = vector_table(plans, i);
        if (ember_flat_equals(ember_flat_vector(plan, PLAN_NAME), name, length)) {
            return plan;
        }
    }
    return NULL;
}

ember_status_t ember_method_meta(const ember_program_t *program, const char *name,
                                 ember_method_meta_t *meta, ember_error_t *err) {
    const uint8_t *plan = find_plan(program, name);
    if (plan == NULL) {
        return ember_fail(err, EMBER_NOT_FOUND, "program: no method of that name");
    }
    const uint32_t sizes = ember_flat_vector(plan, PLAN_BUFFER_SIZES).count;
    *meta = (ember_method_meta_t){
        .program = program,
        .plan = plan,
        .value_count = ember_flat_vector(plan, PLAN_VALUES).count,
        .input_count = ember_flat_vector(plan, PLAN_INPUTS).count,
        .output_count = ember_flat_vector(plan, PLAN_OUTPUTS).count,
        .instruction_count = ember_plan_instructions(plan).count,
        .planned_count = sizes > 0 ? sizes - 1 : 0,
    };
    return EMBER_OK;
}

uint64_t ember_method_meta_planned_size(const ember_method_meta_t *meta, uint32_t id) {
    const ember_vector_t sizes = ember_flat_vector(meta->plan, PLAN_BUFFER_SIZES);
    return id < sizes.count ? load_u64(sizes.items + 8 * (size_t)id) : 0;
}

static ember_status_t describe(const ember_method_meta_t *meta, uint32_t list,
                               uint32_t index, ember_value_t *value, bool *planned) {
    const ember_vector_t items = ember_flat_vector(meta->plan, list);
    if (index >= items.count) {
        return EMBER_BAD_ARGUMENT;
    }
    const ember_vector_t values = ember_flat_vector(meta->plan, PLAN_VALUES);
    const uint8_t *body =
        ember_plan_value(values.items, vector_u32(items, index), &value->kind);
    *planned = false;
    if (value->kind == EMBER_TENSOR) {
        ember_plan_tensor(body, &value->as_tensor);
        *planned = ember_flat_field(body, TENSOR_ALLOCATION) != NULL;
    } else {
        ember_plan_scalar(body, value);
    }
    return EMBER_OK;
}

ember_status_t ember_method_meta_input(const ember_method_meta_t *meta, uint32_t index,
                                       ember_value_t *value, bool *planned) {
    return describe(meta, PLAN_INPUTS, index, value, planned);
}

ember_status_t ember_method_meta_output(const ember_method_meta_t *meta, uint32_t index,
                                        ember_value_t *value, bool *planned) {
    return describe(meta, PLAN_OUTPUTS, index, value, planned);
}
