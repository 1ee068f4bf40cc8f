// SPDX-License-Identifier: Apache-2.0
// Inputs, outputs and attributes of a loaded method.
#include "method_state.h"

static bool find_value(const ember_method_t *method, uint32_t list, uint32_t index,
                       uint32_t *value) {
    const ember_vector_t items = method->meta.plan[list].at;
    if (index >= vector_count(items)) {
        return false;
    }
    *value = vector_u32(items, index);
    return true;
}

static ember_status_t current(ember_method_t *method, uint32_t list, uint32_t index,
                              ember_value_t *value) {
    uint32_t at;
    if (!find_value(method, list, index, &at)) {
        return EMBER_BAD_ARGUMENT;
    }
    ember_method_value(method, at, value);
    return EMBER_OK;
}

ember_status_t ember_method_input(ember_method_t *method, uint32_t index,
                                  ember_value_t *value) {
    return current(method, PLAN_INPUTS, index, value);
}

ember_status_t ember_method_output(ember_method_t *method, uint32_t index,
                                   ember_value_t *value) {
    return current(method, PLAN_OUTPUTS, index, value);
}

static bool has_plan(ember_method_t *method, uint32_t index) {
    ember_value_t value;
    ember_plan_tensor_t plan;
    const uint8_t *body = ember_method_body(method, index, &value);
    // unreached: a loaded method has no malformed tensors
    return value.kind != EMBER_TENSOR ||
           !ember_plan_tensor(&method->flat, body, &plan) || plan.allocation != NULL;
}

// The slot of an input, which stands for itself again if a move has changed that.
static ember_slot_t *own_slot(const ember_method_t *method, uint32_t index) {
    ember_slot_t *slot = ember_method_slot(method, index);
    if (slot != NULL && slot->source != NO_SOURCE) {
        slot->source = NO_SOURCE;
        ember_slot_touch(slot);
    }
    return slot;
}

// Points a tensor without planned memory at the caller's. Views of its former memory
// are dropped, because that may be gone.
static void bind(ember_slot_t *slot, void *data, size_t size) {
    const uint32_t capacity = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    if (slot->tensor.data == data && slot->tensor.capacity == capacity) {
        return;
    }
    ember_slot_t *view = slot->method->slots;
    for (uint32_t i = slot->method->slot_count; i > 0; i--, view++) {
        if (view->view && (uintptr_t)view->tensor.data - (uintptr_t)slot->tensor.data <
                              slot->tensor.capacity) {
            view->tensor.data = NULL;
            ember_slot_touch(view);
        }
    }
    slot->view = false;
    slot->tensor.data = data;
    slot->tensor.capacity = capacity;
    ember_slot_touch(slot);
}

// Whether `given` matches `declared`, which has its shape already: in the dim order,
// dimensions of size 1 may be anywhere.
static bool same_kind(const ember_tensor_t *declared, const ember_tensor_t *given) {
    return declared->dtype == given->dtype && declared->rank == given->rank &&
           (given->dim_order == NULL || ember_tensor_same_order(declared, given));
}

static ember_status_t set_tensor(ember_method_t *method, uint32_t index,
                                 ember_slot_t *slot, const ember_tensor_t *given,
                                 ember_error_t *err) {
    const bool planned = has_plan(method, index);
    ember_tensor_t now;
    const bool declared = ember_method_tensor(method, index, &now);
    now.sizes = given->sizes;
    (void)ember_sizes_numel(now.sizes, given->rank, &now.numel); // reshape checks them
    if (!declared || !same_kind(&now, given)) {
        return ember_fail(
            err, EMBER_BAD_ARGUMENT,
            "input: dtype, rank or dim_order differs from the declared one");
    }
    if (((uintptr_t)given->data & (now.element_size - 1u)) != 0 || now.constant ||
        (planned && slot != NULL && slot->view)) {
        return ember_fail(err, EMBER_BAD_ARGUMENT, "input: misaligned, or a constant");
    }
    if (!planned) { // first, because it bounds the shape
        bind(slot, given->data, ember_tensor_bytes(&now));
    }
    if (!ember_method_reshape(method, index, slot, given->rank, given->sizes)) {
        if (!planned) {
            bind(slot, NULL, 0);
        }
        return ember_fail(
            err, EMBER_BAD_ARGUMENT,
            "input: its shape differs from the declared one or exceeds the bound");
    }
    if (planned && now.data != given->data && now.numel > 0) {
        memcpy(now.data, given->data, ember_tensor_bytes(&now));
    }
    return EMBER_OK;
}

// A scalar that no instruction reads was baked into the program at export.
static ember_status_t set_scalar(ember_method_t *method, uint32_t index,
                                 ember_slot_t *slot, const ember_value_t *given,
                                 ember_error_t *err) {
    ember_value_t now;
    ember_method_value(method, index, &now);
    if (now.kind == EMBER_NONE && given->kind == EMBER_NONE) {
        return EMBER_OK;
    }
    if (slot == NULL || slot->kind != given->kind) {
        return ember_fail(err, EMBER_BAD_ARGUMENT, "input: a value has the wrong kind");
    }
    const int64_t wanted = given->kind == EMBER_BOOL ? given->as_bool : given->as_int;
    if (!slot->read && slot->as_int != wanted) {
        return ember_fail(err, EMBER_BAD_ARGUMENT,
                          "input: the program was exported for another constant");
    }
    ember_slot_store(slot, given->kind, wanted);
    return EMBER_OK;
}

static ember_status_t set_input(ember_method_t *method, uint32_t index,
                                const ember_value_t *value, ember_error_t *err) {
    uint32_t at = NO_VALUE;
    if (!find_value(method, PLAN_INPUTS, index, &at)) {
        return ember_fail(err, EMBER_BAD_ARGUMENT, "input: no such input");
    }
    ember_slot_t *slot = own_slot(method, at);
    return value->kind == EMBER_TENSOR
               ? set_tensor(method, at, slot, &value->as_tensor, err)
               : set_scalar(method, at, slot, value, err);
}

ember_status_t ember_method_set_input(ember_method_t *method, uint32_t index,
                                      const ember_value_t *value, ember_error_t *err) {
    return ember_error_close(err, set_input(method, index, value, err),
                             EMBER_NO_INSTRUCTION);
}

ember_status_t ember_method_resize_input(ember_method_t *method, uint32_t index,
                                         uint32_t rank, const int32_t *sizes,
                                         ember_error_t *err) {
    uint32_t at;
    ember_status_t status = EMBER_OK;
    if (!find_value(method, PLAN_INPUTS, index, &at) ||
        !ember_method_reshape(method, at, own_slot(method, at), rank, sizes)) {
        status = ember_fail(
            err, EMBER_BAD_ARGUMENT,
            "input: its shape differs from the declared one or exceeds the bound");
    }
    return ember_error_close(err, status, EMBER_NO_INSTRUCTION);
}

// Lends memory to the tensor `at`, which has none from the plan. Inline: most firmware
// links only one of its callers.
EMBER_INLINE ember_status_t lend(ember_method_t *method, uint32_t at, void *data,
                                 size_t size, ember_error_t *err) {
    ember_value_t value;
    ember_plan_tensor_t bound;
    (void)ember_plan_tensor(&method->flat, ember_method_body(method, at, &value),
                            &bound);
    if (size < ember_tensor_bytes(&bound.tensor) ||
        ((uintptr_t)data & (bound.tensor.element_size - 1u)) != 0) {
        return ember_fail(err, EMBER_BAD_ARGUMENT,
                          "lent memory: too small, or misaligned");
    }
    bind(ember_method_slot(method, at), data, size);
    return EMBER_OK;
}

static ember_status_t set_output(ember_method_t *method, uint32_t index, void *data,
                                 size_t size, ember_error_t *err) {
    uint32_t at;
    if (!find_value(method, PLAN_OUTPUTS, index, &at) || has_plan(method, at) ||
        ember_method_slot(method, at) == NULL) {
        return ember_fail(err, EMBER_BAD_ARGUMENT,
                          "output: it already has planned memory");
    }
    return lend(method, at, data, size, err);
}

ember_status_t ember_method_set_output(ember_method_t *method, uint32_t index,
                                       void *data, size_t size, ember_error_t *err) {
    return ember_error_close(err, set_output(method, index, data, size, err),
                             EMBER_NO_INSTRUCTION);
}

static bool find_attribute(ember_method_t *method, const char *name, uint32_t *at) {
    for (*at = 0; *at < method->meta.value_count; (*at)++) {
        ember_value_t value;
        ember_plan_tensor_t plan;
        const uint8_t *body = ember_method_body(method, *at, &value);
        // unreached: a loaded method has no malformed tensors
        if (value.kind == EMBER_TENSOR &&
            ember_plan_tensor(&method->flat, body, &plan) && plan.extra != NULL &&
            ember_flat_is(ember_plan_name(&method->flat, &plan), name)) {
            return true;
        }
    }
    return false;
}

ember_status_t ember_method_attribute(ember_method_t *method, const char *name,
                                      ember_value_t *value) {
    uint32_t at;
    if (!find_attribute(method, name, &at)) {
        return EMBER_NOT_FOUND;
    }
    ember_method_value(method, at, value);
    return EMBER_OK;
}

static ember_status_t set_attribute(ember_method_t *method, const char *name,
                                    void *data, size_t size, ember_error_t *err) {
    uint32_t at;
    if (!find_attribute(method, name, &at)) {
        return ember_fail(err, EMBER_NOT_FOUND, "attribute: no tensor has that name");
    }
    if (has_plan(method, at) || ember_method_slot(method, at) == NULL) {
        return ember_fail(err, EMBER_BAD_ARGUMENT, "attribute: it already has memory");
    }
    return lend(method, at, data, size, err);
}

ember_status_t ember_method_set_attribute(ember_method_t *method, const char *name,
                                          void *data, size_t size, ember_error_t *err) {
    return ember_error_close(err, set_attribute(method, name, data, size, err),
                             EMBER_NO_INSTRUCTION);
}
