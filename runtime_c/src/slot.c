// SPDX-License-Identifier: Apache-2.0
// Slots: what is kept in RAM of values that can change.
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
    if (index >= method->tracked ||
        (method->changing[index / 32] >> (index % 32) & 1) == 0) {
        return NULL;
    }
    return search(method, index);
}

uint32_t ember_slot_source(const ember_method_t *method, uint32_t index,
                           ember_slot_t **slot) {
    *slot = ember_method_slot(method, index);
    if (*slot != NULL && (*slot)->source != NO_SOURCE) {
        // One step only: a move resolves its source when it executes, and later changes
        // of that source do not matter.
        index = (uint32_t)(*slot)->source;
        *slot = ember_method_slot(method, index);
    }
    return index;
}

void ember_slot_touch(ember_slot_t *slot) {
    slot->stamp = ++slot->method->clock;
}

bool ember_slot_tensor(ember_slot_t *slot, const uint8_t *table,
                       ember_tensor_t *tensor) {
    ember_plan_tensor_t plan;
    if (is_scalar(slot->kind) ||
        !ember_plan_tensor(&slot->method->flat, table, &plan)) {
        return false;
    }
    *tensor = plan.tensor;
    tensor->data = slot->tensor.data;
    tensor->constant = slot->constant;
    if (slot->tensor.sizes != NULL) {
        tensor->sizes = slot->tensor.sizes;
        (void)ember_sizes_numel(tensor->sizes, tensor->rank, &tensor->numel);
    }
    return true;
}

// Takes a shape within the declared bound and the memory of the tensor.
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
    if (slot->tensor.data != NULL && // cannot wrap, as the bound does not
        numel * bound->element_size > slot->tensor.capacity) {
        return false;
    }
    const size_t bytes = bound->rank * sizeof(sizes[0]);
    if (memcmp(slot->tensor.sizes, sizes, bytes) != 0) {
        memcpy(slot->tensor.sizes, sizes, bytes);
        ember_slot_touch(slot);
    }
    return true;
}

bool ember_method_reshape(ember_method_t *method, uint32_t index, ember_slot_t *slot,
                          uint32_t rank, const int32_t *sizes) {
    ember_value_t value;
    ember_plan_tensor_t plan;
    const uint8_t *body = ember_method_body(method, index, &value);
    // unreached: a loaded method has no malformed tensors
    if (value.kind != EMBER_TENSOR || !ember_plan_tensor(&method->flat, body, &plan)) {
        return false;
    }
    if (slot != NULL && slot->kind == EMBER_TENSOR && slot->tensor.sizes != NULL) {
        return plan.tensor.rank == rank && take_shape(slot, &plan.tensor, sizes);
    }
    return ember_tensor_has_shape(&plan.tensor, rank, sizes);
}

void ember_slot_store(ember_slot_t *slot, ember_kind_t kind, int64_t bits) {
    if (slot->kind != kind || slot->as_int != bits || slot->source != NO_SOURCE) {
        slot->kind = (uint8_t)kind;
        slot->source = NO_SOURCE;
        slot->as_int = bits;
        ember_slot_touch(slot);
    }
}

void ember_slot_set_int(ember_slot_t *slot, int64_t value) {
    ember_slot_store(slot, EMBER_INT, value);
}

void ember_slot_set_bool(ember_slot_t *slot, bool value) {
    ember_slot_store(slot, EMBER_BOOL, value);
}

void ember_slot_set_double(ember_slot_t *slot, double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    ember_slot_store(slot, EMBER_DOUBLE, bits);
}

ember_status_t ember_slot_resize(ember_slot_t *slot, uint32_t rank,
                                 const int32_t *sizes) {
    return ember_method_reshape(slot->method, slot->index, slot, rank, sizes)
               ? EMBER_OK
               : EMBER_DATA_RANGE;
}
