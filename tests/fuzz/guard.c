// SPDX-License-Identifier: Apache-2.0
// See guard.h.
#include "guard.h"

#include "method_state.h"
#include "node_args.h"

struct guard_call {
    const ember_kernel_t *kernel;
    guard_counts_t *counts;
    const void *owner; // the state that the runtime lends
    void *state;
    guard_set_t set;
};

enum { MOST_CALLS = 256 };

static guard_call_t calls[MOST_CALLS];
static uint32_t call_count;
static guard_call_t *preparing;

void guard_reset(void) {
    for (uint32_t i = 0; i < call_count; i++) {
        guard_release(&calls[i].set);
    }
    call_count = 0;
}

// --- calls ---------------------------------------------------------------------------

static guard_call_t *call_of(const void *owner) {
    for (uint32_t i = 0; i < call_count; i++) {
        if (calls[i].owner == owner) {
            guard_release(&calls[i].set);
            return &calls[i];
        }
    }
    return call_count == MOST_CALLS ? NULL : &calls[call_count++];
}

ember_status_t guard_prepare(const ember_kernel_t *kernel, guard_counts_t *counts,
                             ember_node_t *node, void *state) {
    guard_call_t *call = call_of(state);
    if (call == NULL) {
        return ember_node_fail(node, EMBER_NO_MEMORY, "guard: too many calls");
    }
    *call = (guard_call_t){
        .kernel = kernel, .counts = counts, .owner = state, .set = {.whole = true}};
    const size_t bytes = kernel->state_size;
    call->state = guard_take(&call->set, NULL, bytes);
    if (call->state == NULL) {
        return ember_node_fail(node, EMBER_NO_MEMORY, "guard: no room for its state");
    }
    ((guard_state_t *)state)->call = call;
    preparing = call;
    const ember_status_t status = kernel->prepare(node, call->state);
    preparing = NULL;
    return status;
}

int32_t guard_run(void *state) {
    guard_call_t *call = ((guard_state_t *)state)->call;
    guard_copy_in(&call->set);
    guard_count(call->counts, &call->set);
    const int32_t status = call->kernel->run(call->state);
    guard_copy_out(&call->set);
    return status;
}

// --- accessors
// -------------------------------------------------------------------------

static guard_piece_t *piece_at(const uint8_t *original, size_t bytes) {
    for (uint32_t i = 0; i < preparing->set.count; i++) {
        guard_piece_t *piece = &preparing->set.pieces[i];
        if (original != NULL && piece->original == original && piece->bytes >= bytes) {
            return piece;
        }
    }
    return NULL;
}

// Bytes that a tensor may grow to while it is computed.
static size_t room_of(const ember_tensor_t *tensor, const ember_slot_t *slot) {
    const size_t bytes = ember_tensor_bytes(tensor);
    const bool grows = slot != NULL && slot->kind == EMBER_TENSOR;
    return grows && slot->tensor.capacity > bytes ? slot->tensor.capacity : bytes;
}

// Whether an accessor that another one uses has delivered it.
static bool is_guarded(const uint8_t *data) {
    bool is = false;
    for (uint32_t i = 0; i < preparing->set.count; i++) {
        is = is || preparing->set.pieces[i].data == data;
    }
    return is;
}

static void deliver(ember_tensor_t *tensor, size_t room, bool written) {
    uint8_t *original = tensor->data;
    const size_t bytes = ember_tensor_bytes(tensor);
    if (preparing == NULL || original == NULL || is_guarded(original)) {
        return;
    }
    guard_piece_t *piece = piece_at(original, bytes);
    if (piece == NULL) {
        uint8_t *data = guard_take(&preparing->set, original, room);
        piece = data == NULL ? NULL : &preparing->set.pieces[preparing->set.count - 1];
    }
    if (piece != NULL) {
        piece->written |= written;
        tensor->data = piece->data;
    }
}

#define REAL(NAME) __real_ember_node_##NAME
#define WRAP(NAME) __wrap_ember_node_##NAME

void REAL(tensor)(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor);
void WRAP(tensor)(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor);
void WRAP(tensor)(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor) {
    REAL(tensor)(node, arg, tensor);
    deliver(tensor, ember_tensor_bytes(tensor), false);
}

bool REAL(optional_tensor)(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor);
bool WRAP(optional_tensor)(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor);
bool WRAP(optional_tensor)(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor) {
    const bool is_there = REAL(optional_tensor)(node, arg, tensor);
    deliver(tensor, ember_tensor_bytes(tensor), false);
    return is_there;
}

bool REAL(list_tensor)(ember_node_t *node, uint32_t arg, uint32_t item,
                       ember_tensor_t *tensor);
bool WRAP(list_tensor)(ember_node_t *node, uint32_t arg, uint32_t item,
                       ember_tensor_t *tensor);
bool WRAP(list_tensor)(ember_node_t *node, uint32_t arg, uint32_t item,
                       ember_tensor_t *tensor) {
    const bool is_there = REAL(list_tensor)(node, arg, item, tensor);
    deliver(tensor, ember_tensor_bytes(tensor), false);
    return is_there;
}

void REAL(list_output)(ember_node_t *node, uint32_t arg, uint32_t item, uint32_t rank,
                       const int32_t *sizes, ember_tensor_t *tensor);
void WRAP(list_output)(ember_node_t *node, uint32_t arg, uint32_t item, uint32_t rank,
                       const int32_t *sizes, ember_tensor_t *tensor);
void WRAP(list_output)(ember_node_t *node, uint32_t arg, uint32_t item, uint32_t rank,
                       const int32_t *sizes, ember_tensor_t *tensor) {
    REAL(list_output)(node, arg, item, rank, sizes, tensor);
    deliver(tensor, ember_tensor_bytes(tensor), true);
}

void REAL(output)(ember_node_t *node, uint32_t arg, uint32_t rank, const int32_t *sizes,
                  ember_tensor_t *tensor);
void WRAP(output)(ember_node_t *node, uint32_t arg, uint32_t rank, const int32_t *sizes,
                  ember_tensor_t *tensor);
void WRAP(output)(ember_node_t *node, uint32_t arg, uint32_t rank, const int32_t *sizes,
                  ember_tensor_t *tensor) {
    REAL(output)(node, arg, rank, sizes, tensor);
    deliver(tensor, ember_tensor_bytes(tensor), true);
}

void REAL(output_like)(ember_node_t *node, uint32_t arg, const ember_tensor_t *like,
                       ember_tensor_t *tensor);
void WRAP(output_like)(ember_node_t *node, uint32_t arg, const ember_tensor_t *like,
                       ember_tensor_t *tensor);
void WRAP(output_like)(ember_node_t *node, uint32_t arg, const ember_tensor_t *like,
                       ember_tensor_t *tensor) {
    REAL(output_like)(node, arg, like, tensor);
    deliver(tensor, ember_tensor_bytes(tensor), true);
}

// The kernel may set the shape of such a tensor while it computes.
void REAL(inout)(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor);
void WRAP(inout)(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor);
void WRAP(inout)(ember_node_t *node, uint32_t arg, ember_tensor_t *tensor) {
    REAL(inout)(node, arg, tensor);
    const bool is_fine = ember_node_status(node) == EMBER_OK;
    const uint32_t index = is_fine ? ember_node_index(node, arg) : 0;
    const ember_slot_t *slot = is_fine ? ember_method_slot(node->method, index) : NULL;
    deliver(tensor, room_of(tensor, slot), true);
}

void REAL(bind)(ember_node_t *node, uint32_t arg, uint32_t rank, const int32_t *sizes,
                const ember_tensor_t *base);
void WRAP(bind)(ember_node_t *node, uint32_t arg, uint32_t rank, const int32_t *sizes,
                const ember_tensor_t *base);
void WRAP(bind)(ember_node_t *node, uint32_t arg, uint32_t rank, const int32_t *sizes,
                const ember_tensor_t *base) {
    ember_tensor_t original = *base;
    for (uint32_t i = 0; preparing != NULL && i < preparing->set.count; i++) {
        const guard_piece_t *piece = &preparing->set.pieces[i];
        if (piece->data == base->data && piece->original != NULL) {
            original.data = piece->original;
        }
    }
    REAL(bind)(node, arg, rank, sizes, &original);
}

void *REAL(scratch)(ember_node_t *node, size_t bytes);
void *WRAP(scratch)(ember_node_t *node, size_t bytes);
void *WRAP(scratch)(ember_node_t *node, size_t bytes) {
    void *real = REAL(scratch)(node, bytes);
    if (real == NULL || preparing == NULL) {
        return real;
    }
    void *data = guard_take(&preparing->set, NULL, bytes);
    return data == NULL ? real : data;
}
