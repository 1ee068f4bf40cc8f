// SPDX-License-Identifier: Apache-2.0
// Arenas and spans, for any sizes; shapes and orders of up to 16 dimensions.
// The loops of ember_sizes_numel() and ember_plan_shape(): the product stays a positive
// int32_t, and no size that they took is negative.
#define CUT_NUMEL                                                                      \
    uint32_t i = 0;                                                                    \
    REQUIRE(product >= 1 && product <= INT32_MAX);                                     \
    i = nondet_uint32();                                                               \
    product = nondet_uint32();                                                         \
    empty = nondet_bool();                                                             \
    ASSUME(product >= 1 && product <= INT32_MAX)
#define CUT_NUMEL_AGAIN                                                                \
    (REACHED("round of a shape"), REQUIRE(product >= 1 && product <= INT32_MAX),       \
     REQUIRE(sizes[i - 1] >= 0), ASSUME(false))

// Of the second, too: each dimension that it saw is one of the tensor's.
#define CUT_SHAPE                                                                      \
    CUT_NUMEL;                                                                         \
    seen = nondet_uint32();                                                            \
    ASSUME(seen >> rank == 0)
#define CUT_SHAPE_AGAIN                                                                \
    (REACHED("round of a tensor"), REQUIRE(product >= 1 && product <= INT32_MAX),      \
     REQUIRE(tensor->sizes[i - 1] >= 0), REQUIRE(seen >> rank == 0), ASSUME(false))

#include "arena.c"
#include "flat.c"
#include "plan.c"
#include "tensor.c"

// What plan.c refers to, and nothing here calls.
ember_status_t ember_error_set(ember_error_t *err, ember_status_t status,
                               const char *message) {
    (void)err;
    (void)message;
    return status;
}

bool ember_segment_at(ember_flat_t *flat, ember_vector_t list, const ember_bytes_t *all,
                      uint32_t index, ember_bytes_t *segment) {
    (void)flat, (void)list, (void)all, (void)index, (void)segment;
    return false;
}

#ifndef PROOF_ITEM
#define PROOF_ITEM 24 // bytes
#endif

#ifndef PROOF_ALIGN
#define PROOF_ALIGN 16 // bytes
#endif

static ember_arena_t any_arena(void) {
    ember_arena_t arena;
    arena.size = nondet_size();
    ASSUME(arena.size <= PROOF_BYTES);
    arena.data = malloc(arena.size + 1); // of none there is no pointer, either
    arena.used = nondet_size();
    arena.peak = nondet_size();
    ASSUME(arena.used <= arena.size && arena.peak >= arena.used);
    return arena;
}

static bool is_inside(const ember_arena_t *arena, const void *at, size_t used,
                      size_t size) {
    const size_t place = (size_t)__ESBMC_POINTER_OFFSET(at);
    return __ESBMC_same_object(at, arena->data) && place >= used &&
           place <= arena->size && size <= arena->size - place &&
           arena->used == place + size && arena->peak >= arena->used;
}

void prove_alloc(void) {
    ember_arena_t arena = any_arena();
    const ember_arena_t before = arena;
    const size_t size = nondet_size();
    const size_t align = PROOF_ALIGN;
    const void *at = ember_arena_alloc(&arena, size, align);
    if (at != NULL) {
        REQUIRE(is_inside(&arena, at, before.used, size));
        REQUIRE(((uintptr_t)at & (align - 1)) == 0);
        if (size > 0 && arena.used == arena.size && before.used % 16 == 1) {
            REACHED("full");
        }
    } else {
        REQUIRE(arena.used == before.used && arena.peak == before.peak);
        REACHED("none");
    }
}

void prove_array(void) {
    ember_arena_t arena = any_arena();
    const ember_arena_t before = arena;
    const size_t count = nondet_size();
    const size_t size = PROOF_ITEM;
    const void *at = ember_arena_array(&arena, count, size, 8);
    if (at != NULL) {
        REQUIRE(count <= PROOF_BYTES);
        REQUIRE(is_inside(&arena, at, before.used, count * size));
        if (count > 1) {
            REACHED("array");
        }
    }
}

void prove_span(void) {
    ember_span_t spans[3];
    for (uint32_t i = 0; i < 3; i++) {
        spans[i].size = nondet_size();
        ASSUME(spans[i].size >= 1 && spans[i].size <= PROOF_BYTES);
        spans[i].data = malloc(spans[i].size);
    }
    const uint32_t id = nondet_uint32();
    const size_t offset = nondet_size();
    const size_t size = nondet_size();
    void *at = ember_span_at(spans, 3, id, offset, size);
    if (at != NULL) {
        REQUIRE(id >= 1 && id <= 3);
        proof_writable(at, size);
        if (size == PROOF_BYTES && id == 3) {
            REACHED("span");
        }
    }
}

void prove_numel(void) {
    int32_t sizes[EMBER_MAX_RANK];
    uint32_t numel;
    const uint32_t rank = nondet_uint32();
    ASSUME(rank <= EMBER_MAX_RANK);
    if (ember_sizes_numel(sizes, rank, &numel)) {
        REQUIRE(numel <= INT32_MAX);
        REACHED("shape");
    }
}

void prove_shape(void) {
    ember_tensor_t tensor;
    uint32_t sizes[1 + EMBER_MAX_RANK];
    uint32_t order[1 + EMBER_MAX_RANK / 4];
    ASSUME(sizes[0] > EMBER_MAX_RANK || order[0] <= EMBER_MAX_RANK);
    if (ember_plan_shape(&tensor, (const uint8_t *)sizes, (const uint8_t *)order)) {
        REQUIRE(tensor.rank <= EMBER_MAX_RANK && tensor.numel <= INT32_MAX);
        REQUIRE(sizes[0] == order[0]);
        REACHED("tensor");
    }
}

// Without the cut: what is a permutation.
void prove_permutation(void) {
    ember_tensor_t tensor;
    const uint32_t sizes[5] = {nondet_uint32() % 5, 1, 1, 1, 1};
    uint32_t order[2];
    ASSUME(order[0] <= 4);
    if (ember_plan_shape(&tensor, (const uint8_t *)sizes, (const uint8_t *)order)) {
        const uint32_t one = nondet_uint32();
        const uint32_t other = nondet_uint32();
        ASSUME(one < other && other < tensor.rank);
        REQUIRE(tensor.dim_order[one] < tensor.rank);
        REQUIRE(tensor.dim_order[one] != tensor.dim_order[other]);
        REACHED("order");
    }
}

void prove_dtype(void) {
    const uint32_t size = ember_dtype_size(nondet_uint32());
    REQUIRE(size == 0 || size == 1 || size == 2 || size == 4 || size == 8);
    REACHED("dtype");
}
