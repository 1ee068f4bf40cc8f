// SPDX-License-Identifier: Apache-2.0
// EmberExampleBackend: an example of a backend. It runs one operator on contiguous
// float32 tensors of n elements, from a blob of its own format (little-endian):
//
//     0   "EXB0"
//     4   u8   operator: 0 input * constant, 1 input + constant, 2 input + input
//     5   u8   where the constant is: 0 there is none, 1 in the blob, 2 named data
//     6   u16  0
//     8   u32  n
//     12  u32  elements of the constant: 0, 1 (the same for all) or n
//     16  where 1: that many float32
//         where 2: u32 length of a key, then the key
//
// The blob is untrusted, so init checks all of it; execute checks the arguments of the
// call, whose shapes may change between calls.
#include "ember/backend.h"

#include <string.h>

enum { MULTIPLY, ADD, ADD_INPUTS };
enum { NO_CONSTANT, IN_BLOB, NAMED };
enum { HEADER_SIZE = 16, FLOAT_SIZE = 4 };

typedef struct example {
    const uint8_t *constant; // (constant_count,) float32, of any alignment
    uint32_t constant_count; // 0, 1 or n
    uint32_t n;              // elements
    uint8_t operation;
} example_t;

static ember_status_t bad(const ember_delegate_info_t *info) {
    return ember_fail(info->error, EMBER_BACKEND, "example: its blob is malformed");
}

static uint32_t read_u32(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

// The bytes of the constant, wherever they are. False if they are missing.
static bool find_constant(const ember_delegate_info_t *info, uint8_t where,
                          ember_bytes_t *data) {
    const ember_bytes_t rest = {info->blob.data + HEADER_SIZE,
                                info->blob.size - HEADER_SIZE};
    *data = rest;
    if (where != NAMED) {
        return where <= IN_BLOB;
    }
    if (rest.size < 4 || read_u32(rest.data) > rest.size - 4) {
        return false;
    }
    return ember_program_named_data(info->program, (const char *)rest.data + 4,
                                    read_u32(rest.data), data) == EMBER_OK;
}

static bool read_blob(const ember_delegate_info_t *info, example_t *example) {
    const uint8_t *head = info->blob.data;
    ember_bytes_t data;
    if (info->blob.size < HEADER_SIZE || memcmp(head, "EXB0", 4) != 0 ||
        !find_constant(info, head[5], &data)) {
        return false;
    }
    *example = (example_t){
        .constant = data.data,
        .constant_count = read_u32(head + 12),
        .n = read_u32(head + 8),
        .operation = head[4],
    };
    const uint32_t count = example->constant_count;
    const bool wanted = example->operation != ADD_INPUTS;
    return example->operation <= ADD_INPUTS && wanted == (head[5] != NO_CONSTANT) &&
           (wanted ? count == 1 || count == example->n : count == 0) &&
           count <= data.size / FLOAT_SIZE;
}

static ember_status_t init(const ember_delegate_info_t *info, void **handle) {
    example_t *example =
        ember_arena_alloc(info->arena, sizeof(*example), _Alignof(example_t));
    if (example == NULL) {
        return ember_fail(info->error, EMBER_NO_MEMORY,
                          "example: the arena is too small");
    }
    if (!read_blob(info, example)) {
        return bad(info);
    }
    ember_delegate_work(info, example->n);
    *handle = example;
    return EMBER_OK;
}

// True if `tensor` is what the blob was compiled for.
static bool fits(const example_t *example, const ember_tensor_t *tensor) {
    return tensor->dtype == EMBER_F32 && tensor->numel == example->n &&
           ember_tensor_is_contiguous(tensor);
}

static float constant_at(const example_t *example, uint32_t index) {
    float value;
    const size_t at = example->constant_count == 1 ? 0 : index;
    memcpy(&value, example->constant + FLOAT_SIZE * at, sizeof(value));
    return value;
}

static ember_status_t execute(void *handle, ember_node_t *call) {
    const example_t *example = handle;
    const uint32_t inputs = example->operation == ADD_INPUTS ? 2 : 1;
    ember_tensor_t a, b, out;
    ember_node_tensor(call, 0, &a);
    ember_node_tensor(call, inputs - 1, &b);
    ember_node_output_like(call, inputs, &a, &out);
    if (ember_node_status(call) != EMBER_OK) {
        return ember_node_status(call);
    }
    if (!fits(example, &a) || !fits(example, &b) || !fits(example, &out)) {
        return ember_node_fail(call, EMBER_BACKEND,
                               "example: a tensor differs from the compiled one");
    }
    const float *x = a.data;
    const float *y = b.data;
    float *to = out.data;
    for (uint32_t i = 0; i < example->n; i++) {
        to[i] = example->operation == ADD_INPUTS ? x[i] + y[i]
                : example->operation == ADD      ? x[i] + constant_at(example, i)
                                                 : x[i] * constant_at(example, i);
    }
    return EMBER_OK;
}

// Nothing to release: the example's memory is the method's. A backend that holds a
// device or a lock would release it here.
static void destroy(void *handle) {
    (void)handle;
}

extern const ember_backend_t ember_backend_example;
const ember_backend_t ember_backend_example = {"EmberExampleBackend", init, execute,
                                               destroy};
