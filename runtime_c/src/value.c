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
    if (index >= method->tracked ||
        (method->changing[index / 32] >> (index % 32) & 1) == 0) {
        return NULL;
    }
    return search(method, index);
}

uint32_t ember_method_source(const ember_method_t *method, uint32_t index,
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
                        ember_plan_tensor_t *plan, ember_bytes_t *data) {
    ember_flat_t *flat = &method->flat;
    if (!ember_plan_tensor(flat, table, plan)) {
        return false;
    }
    if (!ember_plan_tensor_data(flat, method->meta.program, plan, data)) {
        flat_fail(flat, plan->external ? EMBER_NOT_FOUND : EMBER_BAD_PROGRAM,
                  "tensor: its data is missing, misaligned or of another shape");
    }
    if (plan->allocation != NULL) {
        place_planned(method, plan->allocation, &plan->tensor);
    } else {
        plan->tensor.data = (void *)(uintptr_t)data->data;
        plan->tensor.constant = data->data != NULL;
    }
    return flat->status == EMBER_OK;
}

// A tensor that can't change.
static bool fixed_tensor(ember_method_t *method, uint32_t index, const uint8_t *table,
                         ember_tensor_t *tensor) {
    ember_plan_tensor_t plan;
    ember_bytes_t data;
    if (!ember_method_place(method, table, &plan, &data)) {
        return false;
    }
    *tensor = plan.tensor;
    if (plan.dynamic || (plan.allocation != NULL) == (data.data != NULL)) {
        method->changes = true; // or it starts with a state
    }
    if (method->recent != NULL) {
        ember_recent_t *recent = &method->recent[index % RECENT_TENSORS];
        recent->index = index;
        recent->tensor = plan.tensor;
    }
    return true;
}

// A tensor that can.
static bool slot_tensor(ember_slot_t *slot, const uint8_t *table,
                        ember_tensor_t *tensor) {
    ember_plan_tensor_t plan;
    if (!ember_plan_tensor(&slot->method->flat, table, &plan)) {
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

// The tensor that can't change and was decoded not long ago, or NULL.
EMBER_INLINE const ember_tensor_t *find_recent(const ember_method_t *method,
                                               uint32_t index) {
    if (method->recent == NULL) {
        return NULL;
    }
    const ember_recent_t *recent = &method->recent[index % RECENT_TENSORS];
    return recent->index == index ? &recent->tensor : NULL;
}

ember_kind_t ember_method_kind(ember_method_t *method, uint32_t index) {
    ember_slot_t *slot;
    uint32_t kind;
    if (find_recent(method, index) != NULL) {
        return EMBER_TENSOR;
    }
    index = ember_method_resolve(method, index, &slot);
    if (slot != NULL && is_scalar(slot->kind)) {
        return (ember_kind_t)slot->kind;
    }
    (void)ember_method_body(method, index, &kind);
    return (ember_kind_t)kind;
}

static __attribute__((noinline)) bool
decode_tensor(ember_method_t *method, uint32_t index, ember_tensor_t *tensor) {
    ember_slot_t *slot;
    uint32_t kind;
    index = ember_method_resolve(method, index, &slot);
    const uint8_t *body = ember_method_body(method, index, &kind);
    if (kind != EMBER_TENSOR) {
        return false;
    }
    return slot == NULL ? fixed_tensor(method, index, body, tensor)
                        : !is_scalar(slot->kind) && slot_tensor(slot, body, tensor);
}

bool ember_method_tensor(ember_method_t *method, uint32_t index,
                         ember_tensor_t *tensor) {
    const ember_tensor_t *recent = find_recent(method, index);
    if (recent == NULL) {
        return decode_tensor(method, index, tensor);
    }
    *tensor = *recent;
    return true;
}

void ember_method_value(ember_method_t *method, uint32_t index, ember_value_t *value) {
    ember_slot_t *slot;
    uint32_t kind;
    const uint32_t source = ember_method_resolve(method, index, &slot);
    if (slot != NULL && is_scalar(slot->kind)) {
        value->kind = (ember_kind_t)slot->kind;
        value->as_int = slot->as_int; // the bits of a bool or double, too
        return;
    }
    const uint8_t *body = ember_method_body(method, source, &kind);
    value->kind = (ember_kind_t)kind;
    if (kind != EMBER_TENSOR) {
        ember_plan_scalar(&method->flat, body, value);
    } else if (!ember_method_tensor(method, index, &value->as_tensor)) {
        value->kind = EMBER_NONE;
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

bool ember_method_reshape(ember_method_t *method, uint32_t index, ember_slot_t *slot,
                          uint32_t rank, const int32_t *sizes) {
    uint32_t kind;
    ember_plan_tensor_t plan;
    const uint8_t *body = ember_method_body(method, index, &kind);
    if (kind != EMBER_TENSOR || !ember_plan_tensor(&method->flat, body, &plan)) {
        return false;
    }
    if (slot != NULL && slot->kind == EMBER_TENSOR && slot->tensor.sizes != NULL) {
        return plan.tensor.rank == rank && take_shape(slot, &plan.tensor, sizes);
    }
    return ember_tensor_has_shape(&plan.tensor, rank, sizes);
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
