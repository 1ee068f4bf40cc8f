// SPDX-License-Identifier: Apache-2.0
// What a method needs and takes, without loading it.
#include "plan.h"

static const uint8_t *find_plan(const ember_program_t *program, const char *name) {
    const ember_vector_t plans = ember_flat_vector(program->root, PROGRAM_PLANS);
    for (uint32_t i = 0; i < vector_count(plans); i++) {
        const uint8_t *plan = vector_table(plans, i);
        if (ember_flat_is(plan, PLAN_NAME, name)) {
            return plan;
        }
    }
    return NULL;
}

ember_status_t ember_method_meta(const ember_program_t *program, const char *name,
                                 ember_method_meta_t *meta, ember_error_t *err) {
    const uint8_t *plan = find_plan(program, name);
    if (plan == NULL) {
        (void)ember_fail(err, EMBER_NOT_FOUND, "program: no method of that name");
        return ember_error_close(err, EMBER_NOT_FOUND, EMBER_NO_INSTRUCTION);
    }
    const uint32_t sizes = vector_count(ember_flat_vector(plan, PLAN_BUFFER_SIZES));
    *meta = (ember_method_meta_t){
        .program = program,
        .plan = plan,
        .value_count = vector_count(ember_flat_vector(plan, PLAN_VALUES)),
        .input_count = vector_count(ember_flat_vector(plan, PLAN_INPUTS)),
        .output_count = vector_count(ember_flat_vector(plan, PLAN_OUTPUTS)),
        .instruction_count = vector_count(ember_plan_instructions(plan)),
        .planned_count = sizes > 0 ? sizes - 1 : 0,
    };
    return EMBER_OK;
}

size_t ember_method_meta_planned_size(const ember_method_meta_t *meta, uint32_t id) {
    const ember_vector_t sizes = ember_flat_vector(meta->plan, PLAN_BUFFER_SIZES);
    return id < vector_count(sizes) ? vector_size(sizes, id) : 0;
}

static ember_status_t describe(const ember_method_meta_t *meta, uint32_t list,
                               uint32_t index, ember_value_t *value, bool *planned) {
    const ember_vector_t items = ember_flat_vector(meta->plan, list);
    if (index >= vector_count(items)) {
        return EMBER_BAD_ARGUMENT;
    }
    const ember_vector_t values = ember_flat_vector(meta->plan, PLAN_VALUES);
    const uint8_t *body =
        ember_plan_value(values, vector_u32(items, index), &value->kind);
    *planned = false;
    if (value->kind == EMBER_TENSOR) {
        ember_plan_tensor_t plan;
        (void)ember_plan_tensor(body, &plan);
        value->as_tensor = plan.tensor;
        *planned = plan.allocation != NULL;
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
