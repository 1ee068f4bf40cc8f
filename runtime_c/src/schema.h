// SPDX-License-Identifier: Apache-2.0
// What the runtime reads of programs (schema ET12) and data files (FT01): for each kind
// of table the fields, as for ember_flat_read(), and the index at which each is stored.
#ifndef EMBER_SCHEMA_H
#define EMBER_SCHEMA_H

#include "flat.h"

#define PROGRAM_FIELDS                                                                 \
    (FLAT(1, FLAT_VEC4) | FLAT(2, FLAT_VEC4) | FLAT(3, FLAT_VEC4) |                    \
     FLAT(4, FLAT_VEC4) | FLAT(5, FLAT_TABLE) | FLAT(6, FLAT_VEC4) |                   \
     FLAT(7, FLAT_VEC4))
enum {
    PROGRAM_PLANS,
    PROGRAM_CONSTANT_BUFFERS,
    PROGRAM_DELEGATE_DATA,
    PROGRAM_SEGMENTS,
    PROGRAM_CONSTANT_SEGMENT,
    PROGRAM_MUTABLE_SEGMENTS,
    PROGRAM_NAMED_DATA,
};

#define PLAN_FIELDS                                                                    \
    (FLAT(0, FLAT_VEC1) | FLAT(2, FLAT_VEC4) | FLAT(3, FLAT_VEC4) |                    \
     FLAT(4, FLAT_VEC4) | FLAT(5, FLAT_VEC4) | FLAT(6, FLAT_VEC4) |                    \
     FLAT(7, FLAT_VEC4) | FLAT(8, FLAT_VEC8))
enum {
    PLAN_NAME,
    PLAN_VALUES,
    PLAN_INPUTS,
    PLAN_OUTPUTS,
    PLAN_CHAINS,
    PLAN_OPERATORS,
    PLAN_DELEGATES,
    PLAN_BUFFER_SIZES,
};
#define PLAN_DEVICES       FLAT(9, FLAT_VEC4)
#define CHAIN_INSTRUCTIONS FLAT(2, FLAT_VEC4)
#define DEVICE_TYPE        FLAT(1, FLAT_U8)

#define TENSOR_FIELDS                                                                  \
    (FLAT(0, FLAT_U8) | FLAT(1, FLAT_U32) | FLAT(2, FLAT_VEC4) | FLAT(3, FLAT_VEC1) |  \
     FLAT(5, FLAT_U32) | FLAT(6, FLAT_TABLE) | FLAT(8, FLAT_U8) | FLAT(9, FLAT_TABLE))
enum {
    TENSOR_DTYPE,
    TENSOR_STORAGE_OFFSET,
    TENSOR_SIZES,
    TENSOR_DIM_ORDER,
    TENSOR_BUFFER,
    TENSOR_ALLOCATION,
    TENSOR_DYNAMISM,
    TENSOR_EXTRA,
};
#define ALLOCATION_FIELDS (FLAT(0, FLAT_U32) | FLAT(1, FLAT_U32) | FLAT(2, FLAT_U32))
enum { ALLOCATION_ID, ALLOCATION_LOW, ALLOCATION_HIGH };
#define EXTRA_FIELDS                                                                   \
    (EXTRA_MUTABLE_SEGMENT | EXTRA_NAME | FLAT(2, FLAT_U8) | FLAT(3, FLAT_U8))
#define EXTRA_MUTABLE_SEGMENT FLAT(0, FLAT_U64)
#define EXTRA_NAME            FLAT(1, FLAT_VEC1)
enum { EXTRA_LOCATION = 2, EXTRA_DEVICE };

#define CALL_FIELDS                                                                    \
    (FLAT(0, FLAT_U32) | FLAT(1, FLAT_VEC4)) // kernel and delegate calls
enum { CALL_INDEX, CALL_ARGS };
#define MOVE_FIELDS (FLAT(0, FLAT_U32) | FLAT(1, FLAT_U32)) // moves and jumps
enum { MOVE_FROM, MOVE_TO };
enum { JUMP_CONDITION, JUMP_TARGET };
#define FREE_FIELDS FLAT(0, FLAT_U32)
enum { FREE_VALUE };

#define OPERATOR_FIELDS (FLAT(0, FLAT_VEC1) | FLAT(1, FLAT_VEC1))
enum { OPERATOR_NAME, OPERATOR_OVERLOAD };

#define DELEGATE_FIELDS (FLAT(0, FLAT_VEC1) | FLAT(1, FLAT_TABLE))
enum { DELEGATE_ID, DELEGATE_DATA };
#define DELEGATE_SPECS   FLAT(2, FLAT_VEC4)
#define REFERENCE_FIELDS (FLAT(0, FLAT_U8) | FLAT(1, FLAT_U32))
enum { REFERENCE_LOCATION, REFERENCE_INDEX };
#define SPEC_FIELDS (FLAT(0, FLAT_VEC1) | FLAT(1, FLAT_VEC1))
enum { SPEC_KEY, SPEC_VALUE };
enum { BLOB_DATA = FLAT_VEC1 }; // field 0 of Buffer and BackendDelegateInlineData

#define SEGMENT_FIELDS (FLAT(0, FLAT_U64) | FLAT(1, FLAT_U64))
enum { SEGMENT_OFFSET, SEGMENT_SIZE };
#define OFFSETS_FIELDS (FLAT(0, FLAT_U32) | FLAT(1, FLAT_VEC8))
enum { OFFSETS_SEGMENT, OFFSETS_ITEMS };
#define NAMED_FIELDS (FLAT(0, FLAT_VEC1) | FLAT(1, FLAT_U32))
enum { NAMED_KEY, NAMED_SEGMENT };
#define NAMED_LAYOUT  FLAT(2, FLAT_TABLE) // only in a .ptd
#define LAYOUT_FIELDS (FLAT(0, FLAT_U8) | FLAT(1, FLAT_VEC4) | FLAT(2, FLAT_VEC1))
enum { LAYOUT_DTYPE, LAYOUT_SIZES, LAYOUT_DIM_ORDER };
#define DATA_FIELDS (FLAT(1, FLAT_VEC4) | FLAT(2, FLAT_VEC4)) // FlatTensor
enum { DATA_SEGMENTS, DATA_NAMED };

enum { CALL_KERNEL = 1, CALL_DELEGATE, CALL_MOVE, CALL_JUMP_FALSE, CALL_FREE };
enum { LOCATION_SEGMENT = 0, LOCATION_EXTERNAL = 1 }; // of a tensor
enum { DATA_INLINE = 0, DATA_SEGMENT = 1 };           // of a delegate
enum { SHAPE_STATIC = 0, SHAPE_DYNAMIC_BOUND = 1 };

#endif // EMBER_SCHEMA_H
