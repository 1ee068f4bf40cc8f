// SPDX-License-Identifier: Apache-2.0
// Reads the methods of a program and their values.
#include "plan.h"

#include "container.h"

bool ember_program_segment(ember_flat_t *flat, const ember_program_t *program,
                           uint32_t index, ember_bytes_t *segment) {
    return ember_segment_at(flat, program->root[PROGRAM_SEGMENTS].at,
                            &program->segments, index, segment);
}

// The vector in field 0 of a list, a string or bytes. They share a layout: that of a
// vector with items of 4 bytes.
static ember_vector_t first_vector(ember_flat_t *flat, const uint8_t *table,
                                   uint32_t kind) {
    const uint16_t *at =
        ember_flat_layout(flat, table, FLAT(0, FLAT_VEC4), flat->layouts[LAYOUT_LIST]);
    return ember_flat_vector(flat, table, at[0], kind);
}

void ember_program_blob(ember_flat_t *flat, ember_vector_t list, uint32_t index,
                        ember_bytes_t *data) {
    *data = (ember_bytes_t){NULL, 0};
    if (index < vector_count(list)) {
        const uint8_t *table = ember_flat_item(flat, list, index);
        const ember_vector_t bytes = first_vector(flat, table, BLOB_DATA);
        *data = (ember_bytes_t){vector_items(bytes), vector_count(bytes)};
    }
}

void ember_plan_read(ember_flat_t *flat, const ember_program_t *program,
                     const uint8_t *table, ember_method_meta_t *meta) {
    ember_field_t *fields = meta->plan;
    ember_flat_read(flat, table, PLAN_FIELDS, fields);
    const uint32_t sizes = vector_count(fields[PLAN_BUFFER_SIZES].at);
    const uint32_t chains = vector_count(fields[PLAN_CHAINS].at);
    if (chains > 1) {
        flat_fail(flat, EMBER_UNSUPPORTED, "method: more than one chain");
    }
    table = chains > 0 ? ember_flat_item(flat, fields[PLAN_CHAINS].at, 0) : NULL;
    meta->program = program;
    meta->instructions = ember_flat_field(flat, table, CHAIN_INSTRUCTIONS).at;
    meta->value_count = vector_count(fields[PLAN_VALUES].at);
    meta->input_count = vector_count(fields[PLAN_INPUTS].at);
    meta->output_count = vector_count(fields[PLAN_OUTPUTS].at);
    meta->instruction_count = vector_count(meta->instructions);
    meta->planned_count = sizes > 0 ? sizes - 1 : 0;
}

bool ember_sizes_numel(const int32_t *sizes, uint32_t rank, uint32_t *numel) {
    uint32_t product = 1;
    bool empty = false;
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t size = (uint32_t)sizes[i];
        if (size == 0) {
            empty = true;
            size = 1;
        }
        const uint64_t wide = (uint64_t)product * size;
        if (wide > INT32_MAX) { // a negative size is at least 2^31, too
            return false;
        }
        product = (uint32_t)wide;
    }
    *numel = empty ? 0 : product;
    return true;
}

bool ember_plan_shape(ember_tensor_t *tensor, ember_vector_t sizes,
                      ember_vector_t order) {
    const uint32_t rank = vector_count(sizes);
    const uint8_t *dims = vector_items(order);
    uint32_t product = 1;
    uint32_t seen = 0;
    bool empty = false;
    tensor->sizes = (const int32_t *)__builtin_assume_aligned(vector_items(sizes), 4);
    tensor->dim_order = dims;
    tensor->rank = (uint8_t)rank;
    if (rank > EMBER_MAX_RANK || vector_count(order) != rank) {
        return false;
    }
    for (uint32_t i = 0; i < rank; i++) {
        const uint32_t dim = dims[i];
        uint32_t size = (uint32_t)tensor->sizes[i];
        if (size == 0) {
            empty = true;
            size = 1;
        }
        const uint64_t wide = (uint64_t)product * size;
        if (dim >= rank || wide > INT32_MAX) { // as in ember_sizes_numel()
            return false;
        }
        seen |= 1u << dim;
        product = (uint32_t)wide;
    }
    tensor->numel = empty ? 0 : product;
    return seen == (1u << rank) - 1;
}

static void read_extra(ember_flat_t *flat, const uint8_t *table,
                       ember_plan_tensor_t *plan) {
    ember_field_t fields[4];
    ember_flat_read(flat, table, EXTRA_FIELDS, fields); // so all are well-formed
    const uint32_t location = fields[EXTRA_LOCATION].number;
    plan->external = location == LOCATION_EXTERNAL;
    if (location > LOCATION_EXTERNAL || fields[EXTRA_DEVICE].number != 0) {
        flat_fail(flat, EMBER_UNSUPPORTED, "tensor: unknown location or device");
    }
}

bool ember_plan_tensor(ember_flat_t *flat, const uint8_t *table,
                       ember_plan_tensor_t *plan) {
    const uint16_t *at =
        ember_flat_layout(flat, table, TENSOR_FIELDS, flat->layouts[LAYOUT_TENSOR]);
    const ember_vector_t sizes =
        ember_flat_vector(flat, table, at[TENSOR_SIZES], FLAT_VEC4);
    const ember_vector_t order =
        ember_flat_vector(flat, table, at[TENSOR_DIM_ORDER], FLAT_VEC1);
    const uint32_t dynamism = flat_u8(table, at[TENSOR_DYNAMISM]);
    ember_tensor_t *tensor = &plan->tensor;
    tensor->data = NULL;
    tensor->dtype = (uint8_t)flat_u8(table, at[TENSOR_DTYPE]);
    tensor->element_size = (uint8_t)ember_dtype_size(tensor->dtype);
    tensor->constant = false;
    plan->buffer = flat_u32(table, at[TENSOR_BUFFER]);
    plan->allocation = flat_table(flat, table, at[TENSOR_ALLOCATION]);
    plan->dynamic = dynamism != SHAPE_STATIC;
    plan->external = false;
    plan->extra = flat_table(flat, table, at[TENSOR_EXTRA]);
    if (!ember_plan_shape(tensor, sizes, order) ||
        (uint64_t)tensor->numel * tensor->element_size > INT32_MAX) {
        flat_fail(flat, EMBER_BAD_PROGRAM, "tensor: bad rank, sizes or dim_order");
    } else if (tensor->element_size == 0 || dynamism > SHAPE_DYNAMIC_BOUND ||
               flat_u32(table, at[TENSOR_STORAGE_OFFSET]) != 0) {
        flat_fail(flat, EMBER_UNSUPPORTED,
                  "tensor: unknown dtype, unbounded, or a storage offset");
    }
    if (plan->extra != NULL) {
        read_extra(flat, plan->extra, plan);
    }
    return flat->status == EMBER_OK;
}

static const uint8_t item_kinds[] = {
    [EMBER_STRING] = FLAT_VEC1,      [EMBER_INT_LIST] = FLAT_VEC8,
    [EMBER_DOUBLE_LIST] = FLAT_VEC8, [EMBER_BOOL_LIST] = FLAT_VEC1,
    [EMBER_TENSOR_LIST] = FLAT_VEC4, [EMBER_OPTIONAL_TENSOR_LIST] = FLAT_VEC4,
};

// The bits of an integer or a double.
EMBER_INLINE int64_t number(const uint8_t *body, const uint16_t *at) {
    return at[0] != 0 ? (int64_t)load_u64(body + at[0]) : 0;
}

void ember_plan_scalar(ember_flat_t *flat, const uint8_t *body, ember_value_t *value) {
    if (value->kind == EMBER_NONE) {
        return;
    }
    if (value->kind == EMBER_BOOL) {
        value->as_int = ember_flat_field(flat, body, FLAT(0, FLAT_U8)).number != 0;
        return;
    }
    const ember_vector_t list = first_vector(flat, body, item_kinds[value->kind]);
    value->as_list.items = vector_items(list);
    value->as_list.count = vector_count(list);
}

const uint8_t *ember_plan_value(ember_flat_t *flat, ember_vector_t items,
                                uint32_t index, ember_value_t *value) {
    uint32_t kind;
    const uint8_t *body = flat_union(flat, items, index, &kind);
    if (value == NULL) {
        flat->tag = kind;
        return body;
    }
    value->kind = (ember_kind_t)kind;
    if (is_number(kind)) { // as most are
        value->as_int = number(body, flat_layout(flat, body, FLAT(0, FLAT_U64),
                                                 flat->layouts[LAYOUT_NUMBER]));
    } else if (kind != EMBER_TENSOR) {
        ember_plan_scalar(flat, body, value);
    }
    return body;
}

void ember_plan_offsets(ember_flat_t *flat, const ember_program_t *program,
                        const uint8_t *table, ember_offsets_t *offsets) {
    ember_field_t fields[2];
    ember_flat_read(flat, table, OFFSETS_FIELDS, fields);
    offsets->items = fields[OFFSETS_ITEMS].at;
    (void)ember_program_segment(flat, program, fields[OFFSETS_SEGMENT].number,
                                &offsets->segment);
}

static void external_data(ember_flat_t *flat, const ember_program_t *program,
                          const ember_plan_tensor_t *plan, ember_bytes_t *data) {
    const ember_vector_t key = ember_plan_name(flat, plan);
    if (program->find_data == NULL ||
        program->find_data(program, (const char *)vector_items(key), vector_count(key),
                           &plan->tensor, data) != EMBER_OK) {
        *data = (ember_bytes_t){NULL, 0};
    }
}

// A constant segment with a single offset, of the unused index 0, has no constants.
static void internal_data(ember_flat_t *flat, const ember_program_t *program,
                          const ember_plan_tensor_t *plan,
                          const ember_offsets_t *offsets, ember_bytes_t *data) {
    const uint32_t count = vector_count(offsets->items);
    if (plan->allocation == NULL && count <= 1) {
        ember_program_blob(flat, program->root[PROGRAM_CONSTANT_BUFFERS].at,
                           plan->buffer, data);
    } else if (plan->buffer < count && offsets->segment.data != NULL) {
        const uint64_t at =
            load_u64(vector_items(offsets->items) + 8 * (size_t)plan->buffer);
        const ember_bytes_t *segment = &offsets->segment;
        if (at <= segment->size) { // its data extends to the end of the segment
            *data = (ember_bytes_t){segment->data + at, segment->size - (size_t)at};
        }
    }
}

const uint8_t *ember_plan_data(ember_flat_t *flat, const ember_program_t *program,
                               const ember_plan_tensor_t *plan,
                               const ember_offsets_t *offsets) {
    const uint32_t align = plan->allocation == NULL ? plan->tensor.element_size : 1;
    ember_bytes_t data = {NULL, 0};
    if (plan->external) {
        external_data(flat, program, plan, &data);
    } else {
        internal_data(flat, program, plan, offsets, &data);
    }
    if (data.data == NULL || ember_tensor_bytes(&plan->tensor) > data.size ||
        ((uintptr_t)data.data & (align - 1)) != 0) {
        flat_fail(flat, plan->external ? EMBER_NOT_FOUND : EMBER_BAD_PROGRAM,
                  "tensor: its data is missing, misaligned or of another shape");
    }
    return data.data;
}
