// SPDX-License-Identifier: Apache-2.0
// See guard.h.
#define _GNU_SOURCE
#include "guard.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "method_state.h"
#include "mutate.h"
#include "node_args.h"

enum {
    PAGE = 4096,
    ROOM = 1 << 17, // bytes between two guards
    CELLS = 1024,
    MOST_PIECES = 96, // of one call
    MOST_CALLS = 256,
    ALIGN = 64, // of what is placed as its original is
};

typedef struct piece {
    uint8_t *cell;
    uint8_t *data;
    uint8_t *original; // NULL: state, scratch
    size_t bytes;
    bool written;
} piece_t;

struct guard_call {
    guard_counts_t *counts;
    const void *owner; // the state that the runtime lends
    void *state;
    piece_t pieces[MOST_PIECES];
    uint32_t count;
    bool whole; // all that it uses lies between guards
};

static guard_counts_t *counted; // of the kernels that ran
static guard_call_t calls[MOST_CALLS];
static uint32_t call_count;
static guard_call_t *preparing;

// --- memory --------------------------------------------------------------------------

static uint8_t *free_cells[CELLS];
static uint32_t free_count;

__attribute__((constructor)) static void make_cells(void) {
    const size_t step = PAGE + ROOM;
    uint8_t *all = mmap(NULL, CELLS * step + PAGE, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) {
        abort();
    }
    for (uint32_t i = 0; i < CELLS; i++) {
        uint8_t *cell = all + i * step + PAGE;
        if (mprotect(cell, ROOM, PROT_READ | PROT_WRITE) != 0) {
            abort();
        }
        __asan_poison_memory_region(cell, ROOM);
        free_cells[free_count++] = cell;
    }
}

// At the first or the last address of a cell that is aligned as the original.
static uint8_t *place(uint8_t *cell, const uint8_t *original, size_t bytes, bool last) {
    const size_t odd = (uintptr_t)original % ALIGN;
    return cell + (last ? (ROOM - bytes - odd) / ALIGN * ALIGN : 0) + odd;
}

// NULL: there is none.
static uint8_t *take(guard_call_t *call, uint8_t *original, size_t bytes) {
    const bool last = fuzz_below(2) == 0;
    if (call->count == MOST_PIECES || free_count == 0 || bytes + 2 * ALIGN > ROOM) {
        call->whole = false;
        return NULL;
    }
    uint8_t *cell = free_cells[--free_count];
    uint8_t *data = place(cell, original, bytes, last);
    __asan_unpoison_memory_region(data, bytes);
    if (original != NULL) { // prepare may read a constant
        memcpy(data, original, bytes);
    } else {
        memset(data, 0xA5, bytes);
    }
    call->pieces[call->count++] = (piece_t){cell, data, original, bytes, false};
    return data;
}

static void release(guard_call_t *call) {
    for (uint32_t i = 0; i < call->count; i++) {
        __asan_poison_memory_region(call->pieces[i].cell, ROOM);
        free_cells[free_count++] = call->pieces[i].cell;
    }
    call->count = 0;
}

void guard_reset(void) {
    for (uint32_t i = 0; i < call_count; i++) {
        release(&calls[i]);
    }
    call_count = 0;
}

// --- calls ---------------------------------------------------------------------------

static guard_call_t *call_of(const void *owner) {
    for (uint32_t i = 0; i < call_count; i++) {
        if (calls[i].owner == owner) {
            release(&calls[i]);
            return &calls[i];
        }
    }
    return call_count == MOST_CALLS ? NULL : &calls[call_count++];
}

static void count(const guard_call_t *call) {
    guard_counts_t *counts = call->counts;
    if (counts->whole + counts->part == 0) {
        counts->next = counted;
        counted = counts;
    }
    counts->whole += call->whole;
    counts->part += !call->whole;
}

void guard_log(void) {
    for (const guard_counts_t *counts = counted; counts != NULL;
         counts = counts->next) {
        printf("KERNEL %s %llu %llu\n", counts->kernel->name,
               (unsigned long long)counts->whole, (unsigned long long)counts->part);
    }
}

ember_status_t guard_prepare(guard_counts_t *counts, ember_node_t *node, void *state) {
    const ember_kernel_t *kernel = counts->kernel;
    guard_call_t *call = call_of(state);
    if (call == NULL) {
        return ember_node_fail(node, EMBER_NO_MEMORY, "guard: too many calls");
    }
    *call = (guard_call_t){.counts = counts, .owner = state, .whole = true};
    const size_t bytes = kernel->state_size;
    call->state = take(call, NULL, bytes);
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
    for (uint32_t i = 0; i < call->count; i++) {
        const piece_t *piece = &call->pieces[i];
        if (piece->original != NULL) {
            memcpy(piece->data, piece->original, piece->bytes);
        }
    }
    count(call);
    const int32_t status = call->counts->kernel->run(call->state);
    for (uint32_t i = 0; i < call->count; i++) {
        const piece_t *piece = &call->pieces[i];
        if (piece->written) {
            memcpy(piece->original, piece->data, piece->bytes);
        }
    }
    return status;
}

// --- accessors
// -------------------------------------------------------------------------

static piece_t *piece_at(const uint8_t *original, size_t bytes) {
    for (uint32_t i = 0; i < preparing->count; i++) {
        piece_t *piece = &preparing->pieces[i];
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
    for (uint32_t i = 0; i < preparing->count; i++) {
        is = is || preparing->pieces[i].data == data;
    }
    return is;
}

static void deliver(ember_tensor_t *tensor, size_t room, bool written) {
    uint8_t *original = tensor->data;
    const size_t bytes = ember_tensor_bytes(tensor);
    if (preparing == NULL || original == NULL || is_guarded(original)) {
        return;
    }
    piece_t *piece = piece_at(original, bytes);
    if (piece == NULL) {
        uint8_t *data = take(preparing, original, room);
        piece = data == NULL ? NULL : &preparing->pieces[preparing->count - 1];
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
    for (uint32_t i = 0; preparing != NULL && i < preparing->count; i++) {
        const piece_t *piece = &preparing->pieces[i];
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
    void *data = take(preparing, NULL, bytes);
    return data == NULL ? real : data;
}
