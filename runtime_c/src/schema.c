// SPDX-License-Identifier: Apache-2.0
// The rules of what the runtime reads from programs (ET12) and data files (FT01).
#include "schema.h"

enum {
    T_PROGRAM,
    T_PLAN,
    T_VALUE,
    T_NONE, // members of EValue, in the order of its tags
    T_INT,
    T_BOOL,
    T_DOUBLE,
    T_TENSOR,
    T_STRING,
    T_INTS,
    T_DOUBLES,
    T_BOOLS,
    T_TENSORS,
    T_OPTIONAL_TENSORS,
    T_ALLOCATION,
    T_EXTRA,
    T_CHAIN,
    T_INSTRUCTION,
    T_KERNEL_CALL, // members of Instruction, in the order of its tags
    T_DELEGATE_CALL,
    T_MOVE_CALL,
    T_JUMP_CALL,
    T_FREE_CALL,
    T_OPERATOR,
    T_DELEGATE,
    T_REFERENCE,
    T_SPEC,
    T_DEVICE,
    T_BLOB, // Buffer and BackendDelegateInlineData
    T_SEGMENT,
    T_OFFSETS,
    T_NAMED,
};

#define RULES(name, ...)                                                               \
    static const ember_flat_rule_t name[] = {__VA_ARGS__{FLAT_END, 0, 0, 0}}

static const ember_flat_rule_t none_rules[] = {{FLAT_END, 0, 0, 0}};
RULES(program_rules, {PROGRAM_PLANS, FLAT_TABLES, T_PLAN, 0},
      {PROGRAM_CONSTANT_BUFFERS, FLAT_TABLES, T_BLOB, 0},
      {PROGRAM_DELEGATE_DATA, FLAT_TABLES, T_BLOB, 0},
      {PROGRAM_SEGMENTS, FLAT_TABLES, T_SEGMENT, 0},
      {PROGRAM_CONSTANT_SEGMENT, FLAT_TABLE, T_OFFSETS, 0},
      {PROGRAM_MUTABLE_SEGMENTS, FLAT_TABLES, T_OFFSETS, 0},
      {PROGRAM_NAMED_DATA, FLAT_TABLES, T_NAMED, 0}, );
RULES(plan_rules, {PLAN_NAME, FLAT_VEC1, 0, 0}, {PLAN_VALUES, FLAT_TABLES, T_VALUE, 0},
      {PLAN_INPUTS, FLAT_VEC4, 0, 0}, {PLAN_OUTPUTS, FLAT_VEC4, 0, 0},
      {PLAN_CHAINS, FLAT_TABLES, T_CHAIN, 0},
      {PLAN_OPERATORS, FLAT_TABLES, T_OPERATOR, 0},
      {PLAN_DELEGATES, FLAT_TABLES, T_DELEGATE, 0},
      {PLAN_BUFFER_SIZES, FLAT_VEC8, 0, 0},
      {PLAN_BUFFER_DEVICES, FLAT_TABLES, T_DEVICE, 0}, );
RULES(value_rules, {VALUE_BODY, FLAT_UNION, T_NONE, 11}, {VALUE_TAG, FLAT_U8, 0, 0}, );
RULES(u64_rules, {BODY_ITEM, FLAT_U64, 0, 0}, );
RULES(u8_rules, {BODY_ITEM, FLAT_U8, 0, 0}, );
RULES(vec1_rules, {BODY_ITEM, FLAT_VEC1, 0, 0}, );
RULES(vec4_rules, {BODY_ITEM, FLAT_VEC4, 0, 0}, );
RULES(vec8_rules, {BODY_ITEM, FLAT_VEC8, 0, 0}, );
RULES(tensor_rules, {TENSOR_SIZES, FLAT_VEC4, 0, 0},
      {TENSOR_DIM_ORDER, FLAT_VEC1, 0, 0},
      {TENSOR_ALLOCATION, FLAT_TABLE, T_ALLOCATION, 0},
      {TENSOR_EXTRA, FLAT_TABLE, T_EXTRA, 0}, {TENSOR_DTYPE, FLAT_U8, 0, 0},
      {TENSOR_STORAGE_OFFSET, FLAT_U32, 0, 0}, {TENSOR_BUFFER, FLAT_U32, 0, 0},
      {TENSOR_DYNAMISM, FLAT_U8, 0, 0}, );
RULES(allocation_rules, {ALLOCATION_ID, FLAT_U32, 0, 0},
      {ALLOCATION_LOW, FLAT_U32, 0, 0}, {ALLOCATION_HIGH, FLAT_U32, 0, 0}, );
RULES(extra_rules, {EXTRA_NAME, FLAT_VEC1, 0, 0},
      {EXTRA_MUTABLE_SEGMENT, FLAT_U64, 0, 0}, {EXTRA_LOCATION, FLAT_U8, 0, 0},
      {EXTRA_DEVICE, FLAT_U8, 0, 0}, );
RULES(chain_rules, {CHAIN_INSTRUCTIONS, FLAT_TABLES, T_INSTRUCTION, 0}, );
RULES(instruction_rules, {VALUE_BODY, FLAT_UNION, T_KERNEL_CALL, 5},
      {VALUE_TAG, FLAT_U8, 0, 0}, );
RULES(call_rules, {CALL_ARGS, FLAT_VEC4, 0, 0}, {CALL_INDEX, FLAT_U32, 0, 0}, );
RULES(pair_rules, {0, FLAT_U32, 0, 0}, {1, FLAT_U32, 0, 0}, );
RULES(free_rules, {FREE_VALUE, FLAT_U32, 0, 0}, );
RULES(operator_rules, {OPERATOR_NAME, FLAT_VEC1, 0, 0},
      {OPERATOR_OVERLOAD, FLAT_VEC1, 0, 0}, );
RULES(delegate_rules, {DELEGATE_ID, FLAT_VEC1, 0, 0},
      {DELEGATE_DATA, FLAT_TABLE, T_REFERENCE, 0},
      {DELEGATE_SPECS, FLAT_TABLES, T_SPEC, 0}, );
RULES(reference_rules, {REFERENCE_LOCATION, FLAT_U8, 0, 0},
      {REFERENCE_INDEX, FLAT_U32, 0, 0}, );
RULES(spec_rules, {SPEC_KEY, FLAT_VEC1, 0, 0}, {SPEC_VALUE, FLAT_VEC1, 0, 0}, );
RULES(device_rules, {DEVICE_BUFFER, FLAT_U32, 0, 0}, {DEVICE_TYPE, FLAT_U8, 0, 0}, );
RULES(segment_rules, {SEGMENT_OFFSET, FLAT_U64, 0, 0},
      {SEGMENT_SIZE, FLAT_U64, 0, 0}, );
RULES(offsets_rules, {OFFSETS_ITEMS, FLAT_VEC8, 0, 0},
      {OFFSETS_SEGMENT, FLAT_U32, 0, 0}, );
RULES(named_rules, {NAMED_KEY, FLAT_VEC1, 0, 0}, {NAMED_SEGMENT, FLAT_U32, 0, 0}, );

static const ember_flat_rule_t *const program_types[] = {
    [T_PROGRAM] = program_rules,
    [T_PLAN] = plan_rules,
    [T_VALUE] = value_rules,
    [T_NONE] = none_rules,
    [T_INT] = u64_rules,
    [T_BOOL] = u8_rules,
    [T_DOUBLE] = u64_rules,
    [T_TENSOR] = tensor_rules,
    [T_STRING] = vec1_rules,
    [T_INTS] = vec8_rules,
    [T_DOUBLES] = vec8_rules,
    [T_BOOLS] = vec1_rules,
    [T_TENSORS] = vec4_rules,
    [T_OPTIONAL_TENSORS] = vec4_rules,
    [T_ALLOCATION] = allocation_rules,
    [T_EXTRA] = extra_rules,
    [T_CHAIN] = chain_rules,
    [T_INSTRUCTION] = instruction_rules,
    [T_KERNEL_CALL] = call_rules,
    [T_DELEGATE_CALL] = call_rules,
    [T_MOVE_CALL] = pair_rules,
    [T_JUMP_CALL] = pair_rules,
    [T_FREE_CALL] = free_rules,
    [T_OPERATOR] = operator_rules,
    [T_DELEGATE] = delegate_rules,
    [T_REFERENCE] = reference_rules,
    [T_SPEC] = spec_rules,
    [T_DEVICE] = device_rules,
    [T_BLOB] = vec1_rules,
    [T_SEGMENT] = segment_rules,
    [T_OFFSETS] = offsets_rules,
    [T_NAMED] = named_rules,
};

const ember_flat_schema_t ember_schema_program = {
    program_types, sizeof(program_types) / sizeof(program_types[0])};

enum { D_FILE, D_SEGMENT, D_NAMED, D_LAYOUT };

RULES(data_rules, {DATA_SEGMENTS, FLAT_TABLES, D_SEGMENT, 0},
      {DATA_NAMED, FLAT_TABLES, D_NAMED, 0}, );
RULES(data_named_rules, {NAMED_KEY, FLAT_VEC1, 0, 0},
      {NAMED_LAYOUT, FLAT_TABLE, D_LAYOUT, 0}, {NAMED_SEGMENT, FLAT_U32, 0, 0}, );
RULES(layout_rules, {LAYOUT_SIZES, FLAT_VEC4, 0, 0},
      {LAYOUT_DIM_ORDER, FLAT_VEC1, 0, 0}, {LAYOUT_DTYPE, FLAT_U8, 0, 0}, );

static const ember_flat_rule_t *const data_types[] = {
    [D_FILE] = data_rules,
    [D_SEGMENT] = segment_rules,
    [D_NAMED] = data_named_rules,
    [D_LAYOUT] = layout_rules,
};

const ember_flat_schema_t ember_schema_data = {data_types, sizeof(data_types) /
                                                               sizeof(data_types[0])};
