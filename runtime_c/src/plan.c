// SPDX-License-Identifier: Apache-2.0
// Reading the values of a verified program's method.
#include "plan.h"

bool ember_segment_at(ember_vector_t segments, const ember_bytes_t *all, uint32_t index,
                      ember_bytes_t *segment) {
    *segment = (ember_bytes_t){NULL, 0};
    if (index >= vector_count(segments)) {
        return false;
    }
    const uint8_t *table = vector_table(segments, index);
    const size_t offset = ember_flat_size_field(table, SEGMENT_OFFSET);
    const size_t size = ember_flat_size_field(table, SEGMENT_SIZE);
    if (offset > all->size || size > all->size - offset) {
        return false;
    }
    *segment = (ember_bytes_t){all->data + offset, size};
    return true;
}

bool ember_program_segment(const ember_program_t *program, uint32_t index,
                           ember_bytes_t *segment) {
    return ember_segment_at(ember_flat_vector(program->root, PROGRAM_SEGMENTS),
                            &program->segments, index, segment);
}

// A union has both its fields, and they are the first two: see ember_flat_verify().
const uint8_t *ember_plan_union(const uint8_t *table, uint32_t *tag) {
    const uint8_t *vtable = table - (int32_t)load_u32(table);
    *tag = table[load_u16(vtable + 4 + 2 * VALUE_TAG)];
    return load_ref(table + load_u16(vtable + 4 + 2 * VALUE_BODY));
}

const uint8_t *ember_plan_value(ember_vector_t values, uint32_t index,
                                ember_kind_t *kind) {
    uint32_t tag;
    const uint8_t *body = ember_plan_union(vector_table(values, index), &tag);
    *kind = (ember_kind_t)tag;
    return body;
}

ember_vector_t ember_plan_instructions(const uint8_t *plan) {
    const ember_vector_t chains = ember_flat_vector(plan, PLAN_CHAINS);
    // A plan without chains has no instructions: any empty vector will do.
    return vector_count(chains) == 0
               ? chains
               : ember_flat_vector(vector_table(chains, 0), CHAIN_INSTRUCTIONS);
}

bool ember_sizes_numel(const int32_t *sizes, uint32_t rank, uint32_t *numel) {
    uint32_t product = 1;
    bool empty = false;
    for (uint32_t i = 0; i < rank; i++) {
        const uint32_t size = (uint32_t)sizes[i];
        empty |= size == 0;
        const uint64_t wide = (uint64_t)product * (size != 0 ? size : 1);
        if (wide > INT32_MAX) { // a negative size is at least 2^31, too
            return false;
        }
        product = (uint32_t)wide;
    }
    *numel = empty ? 0 : product;
    return true;
}

static uint32_t u32_or_0(const uint8_t *at) {
    return at != NULL ? load_u32(at) : 0;
}

static uint32_t u8_or_0(const uint8_t *at) {
    return at != NULL ? *at : 0;
}

static ember_vector_t vector_or_empty(const uint8_t *at) {
    static const uint32_t empty = 0;
    return at != NULL ? load_ref(at) : (const uint8_t *)&empty;
}

bool ember_plan_tensor(const uint8_t *table, ember_plan_tensor_t *plan) {
    const uint8_t *fields[TENSOR_EXTRA + 1];
    ember_tensor_t *tensor = &plan->tensor;
    ember_flat_fields(table, fields, TENSOR_EXTRA + 1);
    const ember_vector_t sizes = vector_or_empty(fields[TENSOR_SIZES]);
    plan->order = vector_or_empty(fields[TENSOR_DIM_ORDER]);
    plan->storage_offset = u32_or_0(fields[TENSOR_STORAGE_OFFSET]);
    plan->buffer = u32_or_0(fields[TENSOR_BUFFER]);
    plan->dynamism = u8_or_0(fields[TENSOR_DYNAMISM]);
    plan->allocation =
        fields[TENSOR_ALLOCATION] != NULL ? load_ref(fields[TENSOR_ALLOCATION]) : NULL;
    plan->extra = fields[TENSOR_EXTRA] != NULL ? load_ref(fields[TENSOR_EXTRA]) : NULL;
    plan->rank = vector_count(sizes);

    tensor->data = NULL;
    tensor->sizes = (const int32_t *)__builtin_assume_aligned(vector_items(sizes), 4);
    tensor->dim_order = vector_items(plan->order);
    tensor->dtype = (uint8_t)u8_or_0(fields[TENSOR_DTYPE]);
    tensor->rank = (uint8_t)plan->rank;
    tensor->element_size = (uint8_t)ember_dtype_size(tensor->dtype);
    tensor->constant = false;
    return ember_sizes_numel(tensor->sizes, plan->rank, &tensor->numel);
}

bool ember_plan_is_external(const ember_plan_tensor_t *plan) {
    return plan->extra != NULL &&
           ember_flat_u8(plan->extra, EXTRA_LOCATION) == LOCATION_EXTERNAL;
}

void ember_plan_scalar(const uint8_t *body, ember_value_t *value) {
    switch (value->kind) {
    case EMBER_NONE:
        break;
    case EMBER_BOOL:
        value->as_int = ember_flat_u8(body, BODY_ITEM) != 0;
        break;
    case EMBER_INT:
    case EMBER_DOUBLE: { // the bits of either
        const uint8_t *at = ember_flat_field(body, BODY_ITEM);
        value->as_int = at != NULL ? (int64_t)load_u64(at) : 0;
        break;
    }
    default: { // a string has the same two fields as a list
        const ember_vector_t items = ember_flat_vector(body, BODY_ITEM);
        value->as_list.items = vector_items(items);
        value->as_list.count = vector_count(items);
        break;
    }
    }
}

// Data from item `index` of an offsets table to the end of its segment.
static void segment_data(const ember_program_t *program, const uint8_t *offsets,
                         uint32_t index, ember_bytes_t *data) {
    const ember_vector_t items = ember_flat_vector(offsets, OFFSETS_ITEMS);
    const uint32_t segment = ember_flat_u32(offsets, OFFSETS_SEGMENT);
    if (index >= vector_count(items) ||
        !ember_program_segment(program, segment, data)) {
        return;
    }
    const size_t at = vector_size(items, index);
    if (at > data->size) {
        *data = (ember_bytes_t){NULL, 0};
        return;
    }
    data->data += at;
    data->size -= at;
}

void ember_program_blob(const ember_program_t *program, uint32_t list, uint32_t index,
                        ember_bytes_t *data) {
    const ember_vector_t all = ember_flat_vector(program->root, list);
    *data = (ember_bytes_t){NULL, 0};
    if (index < vector_count(all)) {
        const ember_vector_t bytes =
            ember_flat_vector(vector_table(all, index), BODY_ITEM);
        *data = (ember_bytes_t){vector_items(bytes), vector_count(bytes)};
    }
}

// A constant segment with one offset, of the unused index 0, holds no constants.
static void constant_data(const ember_program_t *program, uint32_t index,
                          ember_bytes_t *data) {
    const uint8_t *offsets = ember_flat_table(program->root, PROGRAM_CONSTANT_SEGMENT);
    if (offsets != NULL &&
        vector_count(ember_flat_vector(offsets, OFFSETS_ITEMS)) > 1) {
        segment_data(program, offsets, index, data);
    } else {
        ember_program_blob(program, PROGRAM_CONSTANT_BUFFERS, index, data);
    }
}

static void mutable_data(const ember_program_t *program, const uint8_t *extra,
                         uint32_t index, ember_bytes_t *data) {
    const ember_vector_t lists =
        ember_flat_vector(program->root, PROGRAM_MUTABLE_SEGMENTS);
    const size_t list =
        extra != NULL ? ember_flat_size_field(extra, EXTRA_MUTABLE_SEGMENT) : 0;
    if (list < vector_count(lists)) {
        segment_data(program, vector_table(lists, (uint32_t)list), index, data);
    }
}

// A data file may say what tensor it holds; then it must be this one.
static bool layout_fits(const uint8_t *layout, const ember_tensor_t *tensor) {
    return layout == NULL ||
           (ember_flat_u8(layout, LAYOUT_DTYPE) == tensor->dtype &&
            vector_count(ember_flat_vector(layout, LAYOUT_SIZES)) == tensor->rank &&
            memcmp(vector_items(ember_flat_vector(layout, LAYOUT_SIZES)), tensor->sizes,
                   4 * (size_t)tensor->rank) == 0 &&
            ember_flat_equals(ember_flat_vector(layout, LAYOUT_DIM_ORDER),
                              tensor->dim_order, tensor->rank));
}

static void external_data(const ember_program_t *program, const uint8_t *extra,
                          const ember_tensor_t *tensor, ember_bytes_t *data) {
    const ember_vector_t key = ember_flat_vector(extra, EXTRA_NAME);
    const uint8_t *layout = NULL;
    if (program->find_data == NULL ||
        program->find_data(program->maps, program->map_count,
                           (const char *)vector_items(key), vector_count(key), data,
                           &layout) != EMBER_OK ||
        !layout_fits(layout, tensor)) {
        *data = (ember_bytes_t){NULL, 0};
    }
}

bool ember_plan_tensor_data(const ember_program_t *program,
                            const ember_plan_tensor_t *plan, ember_bytes_t *data) {
    const ember_tensor_t *tensor = &plan->tensor;
    *data = (ember_bytes_t){NULL, 0};
    if (ember_plan_is_external(plan)) {
        external_data(program, plan->extra, tensor, data);
    } else if (plan->buffer == 0) {
        return true;
    } else if (plan->allocation != NULL) {
        mutable_data(program, plan->extra, plan->buffer, data);
    } else {
        constant_data(program, plan->buffer, data);
    }
    return data->data != NULL && ember_tensor_bytes(tensor) <= data->size &&
           (plan->allocation != NULL ||
            ((uintptr_t)data->data & (tensor->element_size - 1u)) == 0);
}
