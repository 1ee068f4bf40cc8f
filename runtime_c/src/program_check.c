// SPDX-License-Identifier: Apache-2.0
// Semantic checks of a program whose structure is sound: every index, count, size,
// dtype, alignment and jump. Nothing after this needs to look again.
#include "plan.h"

typedef struct check {
    const ember_program_t *program;
    ember_vector_t values;
    ember_vector_t buffers; // planned sizes, u64
    uint32_t credit;        // list items that may still be visited; see check_items()
    uint32_t instruction;   // that failed
    ember_error_t *err;
} check_t;

#define bad(check, message)         ember_fail((check)->err, EMBER_BAD_PROGRAM, message)
#define unsupported(check, message) ember_fail((check)->err, EMBER_UNSUPPORTED, message)

// Vectors may be shared in the file; the credit, one per byte of it, keeps the work
// linear in its size all the same.
static bool spend(check_t *check, uint32_t items) {
    if (items > check->credit) {
        return false;
    }
    check->credit -= items;
    return true;
}

// True when every item is a value index (or -1 where `optional`).
static bool check_items(check_t *check, ember_vector_t items, uint32_t stride,
                        bool optional) {
    const uint32_t count = vector_count(items);
    const uint8_t *at = vector_items(items);
    if (!spend(check, count)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++, at += stride) {
        const bool none = optional && load_u32(at) == UINT32_MAX;
        if ((load_u32(at) >= vector_count(check->values) && !none) ||
            (stride == 8 && load_u32(at + 4) != 0)) {
            return false;
        }
    }
    return true;
}

bool ember_is_permutation(const uint8_t *order, uint32_t rank) {
    uint32_t seen = 0;
    for (uint32_t i = 0; i < rank; i++) {
        if (order[i] >= rank) {
            return false;
        }
        seen |= 1u << order[i];
    }
    return seen == (1u << rank) - 1;
}

static ember_status_t check_shape(check_t *check, bool countable,
                                  const ember_plan_tensor_t *plan) {
    const ember_tensor_t *tensor = &plan->tensor;
    if (plan->rank > EMBER_MAX_RANK || vector_count(plan->order) != plan->rank ||
        !ember_is_permutation(tensor->dim_order, plan->rank)) {
        return bad(check, "tensor: bad rank or dim_order");
    }
    if (tensor->element_size == 0) {
        return unsupported(check, "tensor: unknown dtype");
    }
    if (!countable || tensor->numel > (uint32_t)INT32_MAX / tensor->element_size) {
        return bad(check, "tensor: bad sizes");
    }
    if (plan->dynamism > SHAPE_DYNAMIC_BOUND || plan->storage_offset != 0) {
        return unsupported(check, "tensor: unbounded shape or storage offset");
    }
    return EMBER_OK;
}

static bool check_allocation(const check_t *check, const uint8_t *allocation,
                             const ember_tensor_t *tensor) {
    const uint32_t id = ember_flat_u32(allocation, ALLOCATION_ID);
    const uint32_t at = ember_flat_u32(allocation, ALLOCATION_LOW);
    if (id == 0 || id >= vector_count(check->buffers) ||
        ember_flat_u32(allocation, ALLOCATION_HIGH) != 0) {
        return false;
    }
    const size_t size = vector_size(check->buffers, id);
    return at <= size && ember_tensor_bytes(tensor) <= size - at &&
           (at & (tensor->element_size - 1u)) == 0;
}

static ember_status_t check_tensor(check_t *check, const uint8_t *table) {
    ember_plan_tensor_t plan;
    ember_bytes_t data;
    const bool countable = ember_plan_tensor(table, &plan);
    const ember_status_t status = check_shape(check, countable, &plan);
    if (status != EMBER_OK) {
        return status;
    }
    if (plan.extra != NULL &&
        (ember_flat_u8(plan.extra, EXTRA_LOCATION) > LOCATION_EXTERNAL ||
         ember_flat_u8(plan.extra, EXTRA_DEVICE) != 0)) {
        return unsupported(check, "tensor: unknown location or device");
    }
    if (plan.allocation != NULL &&
        !check_allocation(check, plan.allocation, &plan.tensor)) {
        return bad(check, "tensor: outside its planned memory, or misaligned");
    }
    // External data is looked up when a method is loaded.
    if (!ember_plan_is_external(&plan) &&
        !ember_plan_tensor_data(check->program, &plan, &data)) {
        return bad(check, "tensor: its data is missing, truncated or misaligned");
    }
    return EMBER_OK;
}

static ember_status_t check_value(check_t *check, uint32_t index) {
    ember_kind_t kind;
    const uint8_t *body = ember_plan_value(check->values, index, &kind);
    bool good = true;
    switch (kind) {
    case EMBER_TENSOR:
        return check_tensor(check, body);
    case EMBER_INT_LIST:
        good = check_items(check, ember_flat_vector(body, BODY_ITEM), 8, false);
        break;
    case EMBER_TENSOR_LIST:
    case EMBER_OPTIONAL_TENSOR_LIST:
        good = check_items(check, ember_flat_vector(body, BODY_ITEM), 4,
                           kind == EMBER_OPTIONAL_TENSOR_LIST);
        break;
    default:
        break;
    }
    return good ? EMBER_OK : bad(check, "list: an item is not a value");
}

// Arguments of an instruction: value indices, and an index below `limit`.
static bool check_call(check_t *check, const uint8_t *call, uint32_t limit) {
    return ember_flat_u32(call, CALL_INDEX) < limit &&
           check_items(check, ember_flat_vector(call, CALL_ARGS), 4, false);
}

static bool check_instruction(check_t *check, const uint8_t *plan,
                              const uint8_t *instruction, uint32_t count) {
    uint32_t tag;
    const uint8_t *body = ember_plan_union(instruction, &tag);
    const uint32_t values = vector_count(check->values);
    switch (tag) {
    case CALL_KERNEL:
        return check_call(check, body,
                          vector_count(ember_flat_vector(plan, PLAN_OPERATORS)));
    case CALL_DELEGATE:
        return check_call(check, body,
                          vector_count(ember_flat_vector(plan, PLAN_DELEGATES)));
    case CALL_MOVE:
        return ember_flat_u32(body, MOVE_FROM) < values &&
               ember_flat_u32(body, MOVE_TO) < values;
    case CALL_JUMP_FALSE:
        return ember_flat_u32(body, JUMP_CONDITION) < values &&
               ember_flat_u32(body, JUMP_TARGET) <= count;
    default: // CALL_FREE: the structure admits no other tag
        return ember_flat_u32(body, FREE_VALUE) < values;
    }
}

static ember_status_t check_instructions(check_t *check, const uint8_t *plan) {
    const ember_vector_t all = ember_plan_instructions(plan);
    if (vector_count(ember_flat_vector(plan, PLAN_CHAINS)) > 1) {
        return unsupported(check, "method: more than one chain");
    }
    const uint32_t count = vector_count(all);
    for (uint32_t i = 0; i < count; i++) {
        if (!check_instruction(check, plan, vector_table(all, i), count)) {
            check->instruction = i;
            return bad(check, "instruction: an index is out of range");
        }
    }
    return EMBER_OK;
}

static ember_status_t check_memories(check_t *check, const uint8_t *plan) {
    const ember_vector_t devices = ember_flat_vector(plan, PLAN_BUFFER_DEVICES);
    for (uint32_t i = 0; i < vector_count(devices); i++) {
        if (ember_flat_u8(vector_table(devices, i), DEVICE_TYPE) != 0) {
            return unsupported(check, "method: memory on a device other than the CPU");
        }
    }
    return EMBER_OK;
}

static ember_status_t check_plan(check_t *check, const uint8_t *plan) {
    check->values = ember_flat_vector(plan, PLAN_VALUES);
    check->buffers = ember_flat_vector(plan, PLAN_BUFFER_SIZES);
    if (!check_items(check, ember_flat_vector(plan, PLAN_INPUTS), 4, false) ||
        !check_items(check, ember_flat_vector(plan, PLAN_OUTPUTS), 4, false)) {
        return bad(check, "method: an input or output is not a value");
    }
    for (uint32_t i = 0; i < vector_count(check->values); i++) {
        const ember_status_t status = check_value(check, i);
        if (status != EMBER_OK) {
            return status;
        }
    }
    const ember_status_t status = check_memories(check, plan);
    return status == EMBER_OK ? check_instructions(check, plan) : status;
}

ember_status_t ember_program_check(const ember_program_t *program,
                                   uint32_t *instruction, ember_error_t *err) {
    const ember_vector_t plans = ember_flat_vector(program->root, PROGRAM_PLANS);
    check_t check = {
        .program = program,
        .credit = (uint32_t)program->flat.size,
        .instruction = EMBER_NO_INSTRUCTION,
        .err = err,
    };
    ember_status_t status = EMBER_OK;
    for (uint32_t i = 0; status == EMBER_OK && i < vector_count(plans); i++) {
        status = check_plan(&check, vector_table(plans, i));
    }
    *instruction = check.instruction;
    return status;
}
