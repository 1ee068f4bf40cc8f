// SPDX-License-Identifier: Apache-2.0
// Values of a loaded method: slots for those that change, the program for the rest.
#include "method_state.h"

// The slots are sorted by value index.
static ember_slot_t *search(const ember_method_t *method, uint32_t index) {
    uint32_t low = 0;
    uint32_t high = method->slot_count;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (method->slots[middle].index <= index) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &method->slots[low];
}

ember_slot_t *ember_method_slot(const ember_method_t *method, uint32_t index) {
    if ((method->changing[index / 32] >> (index % 32) & 1) == 0) {
        return NULL;
    }
    return search(method, index);
}

uint32_t ember_method_resolve(const ember_method_t *method, uint32_t index,
                              ember_slot_t **slot) {
    *slot = ember_method_slot(method, index);
    if (*slot != NULL && (*slot)->source != NO_SOURCE) {
        // One step only: a move resolves its source, and what that source becomes
        // later is not this value's business.
        index = (uint32_t)(*slot)->source;
        *slot = ember_method_slot(method, index);
    }
    return index;
}

void ember_slot_touch(ember_slot_t *slot) {
    slot->stamp = ++slot->method->clock;
}

void ember_method_place(const ember_method_t *method, ember_plan_tensor_t *plan) {
    ember_tensor_t *tensor = &plan->tensor;
    if (plan->allocation != NULL) {
        tensor->data = ember_span_at(method->planned, method->planned_count,
                                     ember_flat_u32(plan->allocation, ALLOCATION_ID),
                                     ember_flat_u32(plan->allocation, ALLOCATION_LOW),
                                     ember_tensor_bytes(tensor));
        return;
    }
    ember_bytes_t data;
    (void)ember_plan_tensor_data(method->meta.program, plan, &data);
    tensor->data = (void *)(uintptr_t)data.data;
    tensor->constant = data.data != NULL;
}

// A tensor that can't change.
static void fixed_tensor(const ember_method_t *method, uint32_t index,
                         const uint8_t *table, ember_tensor_t *tensor) {
    ember_recent_t *recent = method->recent;
    const uint32_t at = index % RECENT_TENSORS;
    if (recent != NULL && recent->index[at] == index + 1) {
        *tensor = recent->tensor[at];
        return;
    }
    ember_plan_tensor_t plan;
    (void)ember_plan_tensor(table, &plan);
    ember_method_place(method, &plan);
    *tensor = plan.tensor;
    if (recent != NULL) {
        recent->index[at] = index + 1;
        recent->tensor[at] = *tensor;
    }
}

// A tensor that can.
static void slot_tensor(const ember_slot_t *slot, const uint8_t *table,
                        ember_tensor_t *tensor) {
    ember_plan_tensor_t plan;
    (void)ember_plan_tensor(table, &plan);
    *tensor = plan.tensor;
    tensor->data = slot->tensor.data;
    tensor->constant = slot->constant;
    if (slot->tensor.sizes != NULL) {
        tensor->sizes = slot->tensor.sizes;
        (void)ember_sizes_numel(tensor->sizes, tensor->rank, &tensor->numel);
    }
}

ember_kind_t ember_method_kind(const ember_method_t *method, uint32_t index) {
    ember_slot_t *slot;
    ember_kind_t kind;
    index = ember_method_resolve(method, index, &slot);
    (void)ember_plan_value(method->values, index, &kind);
    return slot != NULL && is_scalar(slot->kind) ? (ember_kind_t)slot->kind : kind;
}

void ember_method_value(const ember_method_t *method, uint32_t index,
                        ember_value_t *value) {
    ember_slot_t *slot;
    index = ember_method_resolve(method, index, &slot);
    const uint8_t *body = ember_plan_value(method->values, index, &value->kind);
    if (slot != NULL && is_scalar(slot->kind)) {
        value->kind = (ember_kind_t)slot->kind;
        value->as_int = slot->as_int; // the bits of a bool or double, too
    } else if (value->kind != EMBER_TENSOR) {
        ember_plan_scalar(body, value);
    } else if (slot != NULL) {
        slot_tensor(slot, body, &value->as_tensor);
    } else {
        fixed_tensor(method, index, body, &value->as_tensor);
    }
}

// Takes a shape within the declared bound and the memory behind the tensor.
static bool take_shape(ember_slot_t *slot, const ember_tensor_t *bound,
                       const int32_t *sizes) {
    uint32_t numel;
    if (!ember_sizes_numel(sizes, bound->rank, &numel)) {
        return false;
    }
    for (uint32_t i = 0; i < bound->rank; i++) {
        if (sizes[i] > bound->sizes[i]) {
            return false;
        }
    }
    if (slot->tensor.data != NULL &&
        (uint64_t)numel * bound->element_size > slot->tensor.capacity) {
        return false;
    }
    const size_t bytes = bound->rank * sizeof(sizes[0]);
    if (memcmp(slot->tensor.sizes, sizes, bytes) != 0) {
        memcpy(slot->tensor.sizes, sizes, bytes);
        ember_slot_touch(slot);
    }
    return true;
}

bool ember_method_reshape(const ember_method_t *method, uint32_t index,
                          ember_slot_t *slot, uint32_t rank, const int32_t *sizes) {
    ember_kind_t kind;
    const uint8_t *body = ember_plan_value(method->values, index, &kind);
    if (kind != EMBER_TENSOR) {
        return false;
    }
    const ember_vector_t bound = ember_flat_vector(body, TENSOR_SIZES);
    if (vector_count(bound) != rank) {
        return false;
    }
    if (slot != NULL && slot->kind == EMBER_TENSOR && slot->tensor.sizes != NULL) {
        ember_plan_tensor_t plan;
        (void)ember_plan_tensor(body, &plan);
        return take_shape(slot, &plan.tensor, sizes);
    }
    return rank == 0 ||
           memcmp(vector_items(bound), sizes, rank * sizeof(sizes[0])) == 0;
}

static void store_scalar(ember_slot_t *slot, ember_kind_t kind, int64_t bits) {
    if (slot->kind != kind || slot->as_int != bits || slot->source != NO_SOURCE) {
        slot->kind = (uint8_t)kind;
        slot->source = NO_SOURCE;
        slot->as_int = bits;
        ember_slot_touch(slot);
    }
}

void ember_slot_set_int(ember_slot_t *slot, int64_t value) {
    store_scalar(slot, EMBER_INT, value);
}

void ember_slot_set_bool(ember_slot_t *slot, bool value) {
    store_scalar(slot, EMBER_BOOL, value);
}

void ember_slot_set_double(ember_slot_t *slot, double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    store_scalar(slot, EMBER_DOUBLE, bits);
}

ember_status_t ember_slot_resize(ember_slot_t *slot, uint32_t rank,
                                 const int32_t *sizes) {
    return ember_method_reshape(slot->method, slot->index, slot, rank, sizes)
               ? EMBER_OK
               : EMBER_DATA_RANGE;
}
