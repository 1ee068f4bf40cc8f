// SPDX-License-Identifier: Apache-2.0
// Methods and values of plan.c, over the contracts of flat.h's accessors.
#include "flat_contract.h"
#include "plan.c"

uint32_t ember_dtype_size(uint32_t dtype) {
    (void)dtype;
    return nondet_bool() ? 0 : 1u << nondet_uint8() % 4; // as prove_dtype shows
}

bool ember_segment_at(ember_flat_t *flat, ember_vector_t list, const ember_bytes_t *all,
                      uint32_t index, ember_bytes_t *segment) {
    REQUIRE(is_vector(list, FLAT_VEC4));
    (void)all;
    (void)index;
    may_fail(flat);
    *segment = (ember_bytes_t){NULL, 0};
    return false;
}

void prove_plan_value(void) {
    ember_flat_t flat;
    ember_value_t value = {.kind = EMBER_NONE};
    any_file();
    any_reader(&flat);
    any_layouts(&flat, LAYOUT_UNION, UNION_FIELDS);
    any_layouts(&flat, LAYOUT_NUMBER, FLAT(0, FLAT_U64));
    const ember_vector_t values = any_vector(FLAT_VEC4);
    const uint8_t *body = ember_plan_value(&flat, values, nondet_uint32(), &value);
    REQUIRE(body == NULL || is_table(body));
    REQUIRE(body != NULL || (value.kind == EMBER_NONE && flat.status != EMBER_OK));
    REQUIRE(value.kind >= EMBER_NONE && value.kind <= EMBER_OPTIONAL_TENSOR_LIST);
    if (value.kind == EMBER_BOOL_LIST) {
        proof_readable(value.as_list.items, value.as_list.count);
        REACHED("list");
    } else if (value.kind == EMBER_INT && flat.status == EMBER_OK) {
        REACHED("number");
    }
}

void prove_plan_scalar(void) {
    ember_flat_t flat;
    ember_value_t value;
    any_file();
    any_reader(&flat);
    value.kind = (ember_kind_t)(1 + nondet_uint8() % UNION_MOST);
    ASSUME(value.kind != EMBER_TENSOR && !is_number(value.kind));
    ember_plan_scalar(&flat, any_table(), &value);
    if (value.kind == EMBER_INT_LIST) {
        proof_readable(value.as_list.items, value.as_list.count * (size_t)8);
        REACHED("list");
    } else if (value.kind == EMBER_STRING) {
        proof_readable(value.as_list.items, value.as_list.count);
        REACHED("string");
    }
}

void prove_plan_read(void) {
    ember_flat_t flat;
    ember_method_meta_t meta;
    any_file();
    any_reader(&flat);
    ember_plan_read(&flat, NULL, nondet_bool() ? any_table() : NULL, &meta);
    REQUIRE(is_vector(meta.instructions, FLAT_VEC4));
    REQUIRE(meta.input_count == vector_count(meta.plan[PLAN_INPUTS].at));
    if (meta.planned_count > 0 && meta.instruction_count > 1) {
        REACHED("method");
    }
}

void prove_plan_tensor(void) {
    ember_flat_t flat;
    ember_plan_tensor_t plan;
    any_file();
    any_reader(&flat);
    const bool good = ember_plan_tensor(&flat, any_table(), &plan);
    if (good) {
        REQUIRE(plan.tensor.rank <= EMBER_MAX_RANK);
        REQUIRE(plan.tensor.numel <= INT32_MAX);
        proof_readable(plan.tensor.sizes, 4 * (size_t)plan.tensor.rank);
        proof_readable(plan.tensor.dim_order, plan.tensor.rank);
        REQUIRE(plan.allocation == NULL || is_table(plan.allocation));
        if (plan.extra != NULL && plan.tensor.rank > 1) {
            REACHED("tensor");
        }
    }
}
