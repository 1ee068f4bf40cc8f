// SPDX-License-Identifier: Apache-2.0
// Values of a loaded method: read from the program unless they have a slot (slot.c).
#include "method_state.h"

static void place_planned(ember_method_t *method, const uint8_t *table,
                          ember_tensor_t *tensor) {
    const uint16_t *offsets =
        ember_flat_layout(&method->flat, table, ALLOCATION_FIELDS,
                          method->flat.layouts[LAYOUT_ALLOCATION]);
    const uint32_t at = flat_u32(table, offsets[ALLOCATION_LOW]);
    const size_t bytes = ember_tensor_bytes(tensor);
    tensor->data = ember_span_at(method->planned, method->planned_count,
                                 flat_u32(table, offsets[ALLOCATION_ID]), at, bytes);
    if (flat_u32(table, offsets[ALLOCATION_HIGH]) != 0 ||
        (at & (tensor->element_size - 1u)) != 0 ||
        (tensor->data == NULL && bytes > 0)) {
        flat_fail(&method->flat, EMBER_BAD_PROGRAM,
                  "tensor: outside its planned memory, or misaligned");
    }
}

bool ember_method_place(ember_method_t *method, const uint8_t *table,
                        ember_plan_tensor_t *plan) {
    ember_flat_t *flat = &method->flat;
    if (!ember_plan_tensor(flat, table, plan)) {
        return false;
    }
    const bool has_data = ember_plan_has_data(plan);
    bool changes = plan->dynamic;
    if (plan->allocation != NULL) {
        place_planned(method, plan->allocation, &plan->tensor);
        changes |= has_data;
    } else if (has_data) {
        plan->tensor.data = (void *)(uintptr_t)ember_plan_data(
            flat, method->meta.program, plan, &method->constants);
        plan->tensor.constant = true;
    } else {
        changes = true;
    }
    method->changes |= changes;
    return flat->status == EMBER_OK;
}

// A tensor that cannot change.
static bool fixed_tensor(ember_method_t *method, uint32_t index, const uint8_t *table,
                         ember_tensor_t *tensor) {
    ember_plan_tensor_t plan;
    if (!ember_method_place(method, table, &plan)) {
        return false;
    }
    *tensor = plan.tensor;
    if (method->recent != NULL && !tensor->constant) { // most constants are read once
        ember_recent_tensor_t *recent =
            &method->recent->tensors[index % RECENT_TENSORS];
        recent->index = index;
        recent->tensor = plan.tensor;
    }
    return true;
}

ember_kind_t ember_method_kind(ember_method_t *method, uint32_t index) {
    ember_value_t value;
    const ember_recent_t *recent = method->recent;
    if (recent != NULL && recent->tensors[index % RECENT_TENSORS].index == index) {
        return EMBER_TENSOR;
    }
    ember_method_scalar(method, index, &value);
    return value.kind;
}

// Whether a tensor's memory overlaps the scratch.
static bool shares_scratch(const ember_method_t *method, const ember_tensor_t *tensor) {
    const uintptr_t at = (uintptr_t)tensor->data - (uintptr_t)method->temp.data;
    const size_t bytes = ember_tensor_bytes(tensor);
    return bytes > 0 && (at < method->temp.size || 0 - at < bytes);
}

bool ember_method_tensor(ember_method_t *method, uint32_t index,
                         ember_tensor_t *tensor) {
    ember_slot_t *slot;
    const ember_recent_t *recent = method->recent;
    const uint32_t place = index % RECENT_TENSORS;
    if (recent != NULL && recent->tensors[place].index == index) {
        *tensor = recent->tensors[place].tensor;
        return true;
    }
    index = ember_method_resolve(method, index, &slot);
    const uint8_t *body = ember_method_body(method, index, NULL);
    if (method->flat.tag != EMBER_TENSOR) {
        return false;
    }
    const bool read = slot == NULL ? fixed_tensor(method, index, body, tensor)
                                   : method->parts->tensor(slot, body, tensor);
    if (read && tensor->data != NULL && method->temp.size > 0 &&
        shares_scratch(method, tensor)) {
        method->in_scratch = true;
    }
    return read;
}

void ember_method_scalar(ember_method_t *method, uint32_t index, ember_value_t *value) {
    if (method->parts != NULL) {
        ember_slot_t *slot;
        index = method->parts->source(method, index, &slot);
        if (slot != NULL && slot->kind < EMBER_TENSOR) {
            value->kind = (ember_kind_t)slot->kind;
            value->as_int = slot->as_int; // also the bits of a bool or double
            return;
        }
    }
    ember_recent_t *recent = method->recent;
    const uint32_t place = index % RECENT_PLAIN;
    if (recent != NULL && recent->plain[place].index == index) {
        const ember_recent_plain_t *plain = &recent->plain[place];
        value->kind = plain->kind;
        memcpy(&value->as_int, plain->content, sizeof(plain->content));
        return;
    }
    (void)ember_method_body(method, index, value);
    if (recent != NULL && value->kind != EMBER_TENSOR) {
        ember_recent_plain_t *plain = &recent->plain[place];
        plain->index = index;
        plain->kind = value->kind;
        memcpy(plain->content, &value->as_int, sizeof(plain->content));
    }
}

void ember_method_value(ember_method_t *method, uint32_t index, ember_value_t *value) {
    ember_method_scalar(method, index, value);
    if (value->kind == EMBER_TENSOR &&
        !ember_method_tensor(method, index, &value->as_tensor)) {
        value->kind = EMBER_NONE;
    }
}
