// SPDX-License-Identifier: Apache-2.0
// Arenas, spans, status texts, loaders over memory.
#include <string.h>

#include "check.h"
#include "ember/arena.h"
#include "ember/loader.h"
#include "subject.h"

static _Alignas(16) uint8_t memory[64];

static void arena_hands_out_aligned_spans(void) {
    ember_arena_t arena = {.data = memory, .size = 64};
    CHECK(ember_arena_alloc(&arena, 3, 1) == memory);
    CHECK(ember_arena_alloc(&arena, 8, 8) == memory + 8);
    CHECK(ember_arena_alloc(&arena, 0, 16) == memory + 16);
    CHECK(ember_arena_alloc(&arena, 48, 4) == memory + 16);
    CHECK_EQ(arena.used, 64);
    CHECK(ember_arena_alloc(&arena, 0, 16) == memory + 64);
    CHECK(ember_arena_alloc(&arena, 1, 1) == NULL);
    CHECK_EQ(arena.used, 64);
    CHECK_EQ(arena.peak, 64);
}

static void arena_keeps_its_peak(void) {
    ember_arena_t arena = {.data = memory, .size = 64};
    CHECK(ember_arena_alloc(&arena, 40, 8) != NULL);
    arena.used = 8;
    CHECK(ember_arena_alloc(&arena, 8, 8) == memory + 8);
    CHECK_EQ(arena.peak, 40);
}

static void arena_arithmetic_does_not_wrap(void) {
    ember_arena_t arena = {.data = memory, .size = 64};
    CHECK(ember_arena_alloc(&arena, SIZE_MAX, 1) == NULL);
    CHECK(ember_arena_alloc(&arena, 1, 1) != NULL);
    CHECK(ember_arena_alloc(&arena, SIZE_MAX, 1) == NULL);
    CHECK(ember_arena_alloc(&arena, SIZE_MAX - 1, 16) == NULL);
    CHECK(ember_arena_array(&arena, SIZE_MAX / 2, 4, 4) == NULL);
    CHECK(ember_arena_array(&arena, SIZE_MAX / 8 + 2, 8, 4) == NULL);
    CHECK(ember_arena_array(&arena, 2, SIZE_MAX, 4) == NULL);
    CHECK_EQ(arena.used, 1);
}

static void arena_gap_needs_room(void) {
    ember_arena_t arena = {.data = memory, .size = 9};
    CHECK(ember_arena_alloc(&arena, 9, 1) != NULL);
    CHECK(ember_arena_alloc(&arena, 0, 16) == NULL);
}

static void arrays_are_zero(void) {
    ember_arena_t arena = {.data = memory, .size = 64};
    memset(memory, 0xA5, sizeof(memory));
    const uint32_t *items = ember_arena_array(&arena, 4, 4, 4);
    CHECK(items != NULL && items[0] == 0 && items[3] == 0);
    CHECK_EQ(memory[16], 0xA5);
    CHECK(ember_arena_array(&arena, SIZE_MAX, 0, 4) == memory + 16); // none has a size
}

static void spans_stay_inside(void) {
    const ember_span_t planned[2] = {{memory, 32}, {memory + 32, 32}};
    CHECK(ember_span_at(planned, 2, 0, 0, 1) == NULL);
    CHECK(ember_span_at(planned, 2, 3, 0, 1) == NULL);
    CHECK(ember_span_at(planned, 2, UINT32_MAX, 0, 1) == NULL);
    CHECK(ember_span_at(planned, 2, 1, 0, 32) == memory);
    CHECK(ember_span_at(planned, 2, 2, 16, 16) == memory + 48);
    CHECK(ember_span_at(planned, 2, 1, 16, 17) == NULL);
    CHECK(ember_span_at(planned, 2, 1, 33, 0) == NULL);
    CHECK(ember_span_at(planned, 2, 1, 32, 0) == memory + 32);
    CHECK(ember_span_at(planned, 2, 1, SIZE_MAX, 2) == NULL);
    CHECK(ember_span_at(planned, 2, 1, 1, SIZE_MAX) == NULL);
}

static void statuses_have_texts(void) {
    for (int32_t status = 0; status >= -9; status--) {
        CHECK(strlen(ember_status_text((ember_status_t)status)) > 3);
    }
    CHECK(strcmp(ember_status_text((ember_status_t)-99), "unknown status") == 0);
}

static void loader_over_memory(void) {
    static const uint8_t text[] = "abcdefgh";
    const ember_bytes_t bytes = {text, 8};
    const ember_loader_t loader = ember_loader_from_memory(&bytes);
    uint8_t to[8];
    CHECK_EQ(loader.size, 8);
    CHECK_EQ(loader.read(loader.context, 2, to, 6), EMBER_OK);
    CHECK(memcmp(to, "cdefgh", 6) == 0);
    CHECK_EQ(loader.read(loader.context, 2, to, 7), EMBER_IO);
    CHECK_EQ(loader.read(loader.context, 8, to, 0), EMBER_OK);
    CHECK_EQ(loader.read(loader.context, 9, to, 0), EMBER_IO);
    CHECK_EQ(loader.read(loader.context, UINT64_MAX, to, 2), EMBER_IO);
}

static ember_status_t broken(void *context, uint64_t offset, void *to, size_t size) {
    (void)context;
    (void)offset;
    (void)to;
    (void)size;
    return EMBER_IO;
}

static void reading_all_keeps_the_arena(void) {
    static const uint8_t text[] = "abcdefgh";
    const ember_bytes_t bytes = {text, 8};
    const ember_loader_t loader = ember_loader_from_memory(&bytes);
    const ember_loader_t bad = {broken, NULL, 8};
    const ember_loader_t huge = {broken, NULL, UINT64_MAX};
    ember_arena_t arena = {.data = memory, .size = 24, .used = 3};
    ember_bytes_t all = {NULL, 0};
    ember_error_t error;
    CHECK_EQ(ember_loader_read_all(&bad, &arena, 16, &all, &error), EMBER_IO);
    CHECK_EQ(arena.used, 3);
    CHECK_EQ(ember_loader_read_all(&huge, &arena, 16, &all, &error), EMBER_NO_MEMORY);
    CHECK_EQ(ember_loader_read_all(&loader, &arena, 16, &all, &error), EMBER_OK);
    CHECK(all.data == memory + 16 && all.size == 8 && memcmp(all.data, text, 8) == 0);
    CHECK_EQ(ember_loader_read_all(&loader, &arena, 16, &all, NULL), EMBER_NO_MEMORY);
}

TESTS(TEST(arena_hands_out_aligned_spans), TEST(arena_keeps_its_peak),
      TEST(arena_arithmetic_does_not_wrap), TEST(arena_gap_needs_room),
      TEST(arrays_are_zero), TEST(spans_stay_inside), TEST(statuses_have_texts),
      TEST(loader_over_memory), TEST(reading_all_keeps_the_arena))
