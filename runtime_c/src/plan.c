// SPDX-License-Identifier: Apache-2.0
// Reading the values of a verified program's method.
#include "plan.h"

bool ember_segment_at(ember_vector_t segments, ember_bytes_t all, uint32_t index,
                      ember_bytes_t *segment) {
    if (index >= segments.count) {
        return false;
    }
    const uint8_t *table = vector_table(segments, index);
    const uint64_t offset = ember_flat_u64(table, SEGMENT_OFFSET);
    const uint64_t size = ember_flat_u64(table, SEGMENT_SIZE);
    if (offset > all.size || size > all.size - offset) {
        return false;
    }
    *segment = (ember_bytes_t){all.data + offset, (size_t)size};
    return true;
}

const uint8_t *ember_plan_value(const uint8_t *values, uint32_t index,
                                ember_kind_t *kind) {
    const uint8_t *value = load_ref(values + 4 * (size_t)index);
    *kind = (ember_kind_t)ember_flat_u8(value, VALUE_TAG);
    return ember_flat_table(value, VALUE_BODY);
}

ember_vector_t ember_plan_instructions(const uint8_t *plan) {
    const ember_vector_t chains = ember_flat_vector(plan, PLAN_CHAINS);
    if (chains.count == 0) {
        return (ember_vector_t){NULL, 0};
    }
    return ember_flat_vector(vector_table(chains, 0), CHAIN_INSTRUCTIONS);
}

bool ember_sizes_numel(const int32_t *sizes, uint32_t rank, uint32_t *numel) {
    uint64_t product = 1;
    bool empty = false;
    for (uint32_t i = 0; i < rank; i++) {
        if (sizes[i] < 0) {
            return false;
        }
        empty |= sizes[i] == 0;
        product *= sizes[i] == 0 ? 1 : (uint32_t)sizes[i];
        if (product > INT32_MAX) {
            return false;
        }
    }
    *numel = empty ? 0 : (uint32_t)product;
    return true;
}

void ember_plan_tensor(const uint8_t *table, ember_tensor_t *tensor) {
    const ember_vector_t sizes = ember_flat_vector(table, TENSOR_SIZES);
    *tensor = (ember_tensor_t){
        .sizes = (const int32_t *)__builtin_assume_aligned(sizes.items, 4),
        .dim_order = ember_flat_vector(table, TENSOR_DIM_ORDER).items,
        .dtype = (uint8_t)ember_flat_u8(table, TENSOR_DTYPE),
        .rank = (uint8_t)sizes.count,
    };
    tensor->element_size = (uint8_t)ember_dtype_size(tensor->dtype);
    (void)ember_sizes_numel(tensor->sizes, sizes.count, &tensor->numel);
}

void ember_plan_scalar(const uint8_t *body, ember_value_t *value) {
    switch (value->kind) {
    case EMBER_NONE:
        break;
    case EMBER_BOOL:
        value->as_bool = ember_flat_u8(body, BODY_ITEM) != 0;
        break;
    case EMBER_INT:
        value->as_int = (int64_t)ember_flat_u64(body, BODY_ITEM);
        break;
    case EMBER_DOUBLE: {
        const uint64_t bits = ember_flat_u64(body, BODY_ITEM);
        memcpy(&value->as_double, &bits, sizeof(bits));
        break;
    }
    default: {
        const ember_vector_t items = ember_flat_vector(body, BODY_ITEM);
        value->as_list.items = items.items; // a string has the same two fields
        value->as_list.count = items.count;
        break;
    }
    }
}

// Data that an offsets table places in a segment, from offset `index` on.
static ember_bytes_t segment_data(const ember_program_t *program,
                                  const uint8_t *offsets, uint32_t index) {
    ember_bytes_t segment = {NULL, 0};
    const ember_vector_t segments = ember_flat_vector(program->root, PROGRAM_SEGMENTS);
    const ember_vector_t items = ember_flat_vector(offsets, OFFSETS_ITEMS);
    if (index >= items.count ||
        !ember_segment_at(segments, program->segments,
                          ember_flat_u32(offsets, OFFSETS_SEGMENT), &segment)) {
        return (ember_bytes_t){NULL, 0};
    }
    const uint64_t at = load_u64(items.items + 8 * (size_t)index);
    if (at > segment.size) {
        return (ember_bytes_t){NULL, 0};
    }
    return (ember_bytes_t){segment.data + at, segment.size - (size_t)at};
}

static ember_bytes_t inline_data(ember_vector_t buffers, uint32_t index) {
    if (index >= buffers.count) {
        return (ember_bytes_t){NULL, 0};
    }
    const ember_vector_t bytes =
        ember_flat_vector(vector_table(buffers, index), BODY_ITEM);
    return (ember_bytes_t){bytes.items, bytes.count};
}

// The constant that buffer `index` names, in its segment or inline.
static ember_bytes_t constant_data(const ember_program_t *program, uint32_t index) {
    const ember_vector_t offsets = program->offsets;
    if (offsets.count == 0) {
        return inline_data(ember_flat_vector(program->root, PROGRAM_CONSTANT_BUFFERS),
                           index);
    }
    const uint64_t at =
        index < offsets.count ? load_u64(offsets.items + 8 * (size_t)index) : SIZE_MAX;
    if (at > program->constants.size) {
        return (ember_bytes_t){NULL, 0};
    }
    return (ember_bytes_t){program->constants.data + at,
                           program->constants.size - (size_t)at};
}

static ember_bytes_t mutable_data(const ember_program_t *program, const uint8_t *extra,
                                  uint32_t index) {
    const ember_vector_t lists =
        ember_flat_vector(program->root, PROGRAM_MUTABLE_SEGMENTS);
    const uint64_t list =
        extra != NULL ? ember_flat_u64(extra, EXTRA_MUTABLE_SEGMENT) : 0;
    if (list >= lists.count) {
        return (ember_bytes_t){NULL, 0};
    }
    return segment_data(program, vector_table(lists, (uint32_t)list), index);
}

// A data file may say what tensor it holds; then it must be this one.
static bool layout_fits(const uint8_t *layout, const ember_tensor_t *tensor) {
    if (layout == NULL) {
        return true;
    }
    const ember_vector_t sizes = ember_flat_vector(layout, LAYOUT_SIZES);
    const ember_vector_t order = ember_flat_vector(layout, LAYOUT_DIM_ORDER);
    return ember_flat_u8(layout, LAYOUT_DTYPE) == tensor->dtype &&
           sizes.count == tensor->rank && order.count == tensor->rank &&
           memcmp(sizes.items, tensor->sizes, 4 * sizes.count) == 0 &&
           memcmp(order.items, tensor->dim_order, order.count) == 0;
}

static ember_status_t external_data(const ember_program_t *program,
                                    const uint8_t *extra, const ember_tensor_t *tensor,
                                    ember_bytes_t *data, ember_error_t *err) {
    const ember_vector_t key = ember_flat_vector(extra, EXTRA_NAME);
    const uint8_t *layout = NULL;
    if (program->find_data == NULL ||
        program->find_data(program->maps, program->map_count, (const char *)key.items,
                           key.count, data, &layout) != EMBER_OK) {
        return ember_fail(err, EMBER_NOT_FOUND,
                          "tensor: its external data is in no data file (.ptd)");
    }
    if (!layout_fits(layout, tensor) || data->size < ember_tensor_bytes(tensor) ||
        ((uintptr_t)data->data & (tensor->element_size - 1u)) != 0) {
        return ember_fail(err, EMBER_BAD_PROGRAM,
                          "tensor: its external data has another dtype or shape");
    }
    return EMBER_OK;
}

ember_status_t ember_plan_tensor_data(const ember_program_t *program,
                                      const uint8_t *table,
                                      const ember_tensor_t *tensor, ember_bytes_t *data,
                                      ember_error_t *err) {
    const uint8_t *extra = ember_flat_table(table, TENSOR_EXTRA);
    *data = (ember_bytes_t){NULL, 0};
    if (extra != NULL && ember_flat_u8(extra, EXTRA_LOCATION) == LOCATION_EXTERNAL) {
        return external_data(program, extra, tensor, data, err);
    }
    const uint32_t buffer = ember_flat_u32(table, TENSOR_BUFFER);
    if (buffer == 0) {
        return EMBER_OK;
    }
    *data = ember_flat_field(table, TENSOR_ALLOCATION) != NULL
                ? mutable_data(program, extra, buffer)
                : constant_data(program, buffer);
    return EMBER_OK;
}
