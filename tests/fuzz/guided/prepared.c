// SPDX-License-Identifier: Apache-2.0
// See prepared.h. As in sdk/ember/firmware/pack/prepared.py, a word of a state that is
// the same at both places is a number; one that differs is an address, and the distance
// tells of which region. Unlike there, where the compiler sets them to zero, bytes
// between members may be anything.
#include "prepared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ember/method.h"
#include "execute.h"
#include "mutate.h"
#include "table.h"

// Bytes between the members of a state are copied as they are.
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#else
static void __msan_unpoison(const volatile void *data, size_t size) {
    (void)data, (void)size;
}
#endif

enum {
    MOST_METHODS = 4,
    MOST_PLANNED = 4,
    PROGRAM = 0, // regions
    ARENA,
    TEMP,
    PLANNED,
    MOST_REGIONS = PLANNED + MOST_PLANNED,
    ARENA_BYTES = 1 << 16,
    MOST_BYTES = 1 << 16, // of scratch, and of one planned buffer
    APART = 64,
    ALIGNMENT = 16,
    UNWRITTEN = 0xA5,
    BUDGET = 100000, // steps of one execution
};

// A copy of all memory that a method uses. Each region is at another distance from
// that of another place.
typedef struct place {
    uint8_t *memory;
    uint8_t *at[MOST_REGIONS];
    ember_program_t program;
    ember_method_t method;
    ember_span_t planned[MOST_PLANNED];
} place_t;

typedef struct regions {
    size_t size[MOST_REGIONS];
    uint32_t count;
} regions_t;

static size_t rounded(size_t size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void make_place(place_t *place, const regions_t *regions, uint32_t number) {
    size_t total = 0;
    for (uint32_t i = 0; i < regions->count; i++) {
        total += rounded(regions->size[i]) + (size_t)number * APART;
    }
    place->memory = aligned_alloc(ALIGNMENT, rounded(total + 1));
    memset(place->memory, UNWRITTEN, total);
    uint8_t *at = place->memory;
    for (uint32_t i = 0; i < regions->count; i++) {
        place->at[i] = at;
        at += rounded(regions->size[i]) + (size_t)number * APART;
    }
}

// False where the method is refused, or something in it can change.
static bool load(place_t *place, const regions_t *regions, ember_bytes_t bytes,
                 const char *name) {
    ember_registry_t fixed = fuzz_registry;
    fixed.changing = NULL;
    for (uint32_t i = PLANNED; i < regions->count; i++) {
        place->planned[i - PLANNED] = (ember_span_t){place->at[i], regions->size[i]};
        memset(place->at[i], 0, regions->size[i]);
    }
    const ember_memory_t memory = {
        .method = {.data = place->at[ARENA], .size = regions->size[ARENA]},
        .planned = place->planned,
        .planned_count = regions->count - PLANNED,
        .temp = {place->at[TEMP], regions->size[TEMP]},
    };
    memcpy(place->at[PROGRAM], bytes.data, bytes.size);
    return ember_program_open(&place->program, place->at[PROGRAM], bytes.size, NULL) ==
               EMBER_OK &&
           ember_method_load(&place->method, &place->program, name, &fixed, &memory,
                             NULL) == EMBER_OK;
}

// --- words of states -------------------------------------------------------------

static size_t state_size(ember_run_fn run) {
    const ember_operators_t *operators = fuzz_registry.operators;
    for (uint32_t i = 0; i < operators->count; i++) {
        const ember_kernel_t *const *candidate = operators->items[i].candidates;
        for (; *candidate != NULL; candidate++) {
            if ((*candidate)->run == run) {
                return (*candidate)->state_size;
            }
        }
    }
    fprintf(stderr, "ERROR: a step is of no kernel\n");
    abort();
}

// The region that moved by `distance` between two places; `count`: none.
static uint32_t region_of(const place_t *places, uint32_t count, uintptr_t distance) {
    uint32_t i = 0;
    while (i < count &&
           distance != (uintptr_t)places[1].at[i] - (uintptr_t)places[0].at[i]) {
        i++;
    }
    return i;
}

static uintptr_t in_third(const place_t *places, uint32_t region, uintptr_t first) {
    return first - (uintptr_t)places[0].at[region] + (uintptr_t)places[2].at[region];
}

// Bytes between members are whatever the stack had, and may differ. If others do, the
// results tell.
static uintptr_t same_bytes(uintptr_t first, uintptr_t second) {
    uintptr_t same = 0;
    for (uintptr_t byte = 0xFF; byte != 0; byte <<= 8) {
        same |= (first & byte) == (second & byte) ? first & byte : 0;
    }
    return same;
}

static uintptr_t third_word(const place_t *places, uint32_t count, uintptr_t first,
                            uintptr_t second) {
    const uint32_t region = region_of(places, count, second - first);
    return region == count ? same_bytes(first, second)
                           : in_third(places, region, first);
}

static void *third_state(const place_t *places, uint32_t count, const void *first,
                         const void *second) {
    const uintptr_t distance = (uintptr_t)second - (uintptr_t)first;
    const uint32_t region = region_of(places, count, distance);
    if (region == count) {
        fprintf(stderr, "ERROR: a state is nowhere\n");
        abort();
    }
    return (void *)in_third(places, region, (uintptr_t)first);
}

static void move_state(const place_t *places, uint32_t count, const ember_step_t *first,
                       const ember_step_t *second, size_t size, uint8_t *target) {
    const uint8_t *mine = first->state, *other = second->state;
    for (size_t at = 0; at + sizeof(uintptr_t) <= size; at += sizeof(uintptr_t)) {
        uintptr_t words[2];
        memcpy(&words[0], mine + at, sizeof(words[0]));
        memcpy(&words[1], other + at, sizeof(words[1]));
        __msan_unpoison(words, sizeof(words));
        words[0] = third_word(places, count, words[0], words[1]);
        memcpy(target + at, &words[0], sizeof(words[0]));
    }
    const size_t whole = size / sizeof(uintptr_t) * sizeof(uintptr_t);
    memcpy(target + whole, mine + whole, size - whole);
}

// The steps of the third place; the caller frees them.
static ember_step_t *prepare(place_t *places, const regions_t *regions) {
    const ember_method_t *first = &places[0].method, *second = &places[1].method;
    const uint32_t count = first->meta.instruction_count;
    ember_step_t *steps = malloc((count + 1) * sizeof(*steps));
    for (uint32_t i = 0; i < count; i++) {
        const ember_step_t *mine = &first->steps[i], *other = &second->steps[i];
        const size_t size = state_size(mine->run);
        steps[i] = *mine;
        if (size > 0) {
            steps[i].state =
                third_state(places, regions->count, mine->state, other->state);
            move_state(places, regions->count, mine, other, size, steps[i].state);
        }
    }
    memcpy(places[2].at[PROGRAM], places[0].at[PROGRAM], regions->size[PROGRAM]);
    places[2].method = places[0].method;
    places[2].method.steps = steps;
    return steps;
}

// --- the same results --------------------------------------------------------------

static ember_status_t execute(place_t *place) {
    ember_method_set_budget(&place->method, BUDGET);
    const ember_status_t status = ember_method_execute(&place->method, NULL);
    fuzz_counts.executed += status == EMBER_OK;
    fuzz_counts.steps += status == EMBER_OK ? BUDGET - place->method.left : BUDGET;
    return status;
}

// Anything in planned memory, the same at both places, inputs among it.
static void fill(place_t *first, place_t *other, const regions_t *regions) {
    for (uint32_t i = PLANNED; i < regions->count; i++) {
        for (size_t k = 0; k < regions->size[i]; k++) {
            first->at[i][k] = (uint8_t)fuzz_next();
        }
        memcpy(other->at[i], first->at[i], regions->size[i]);
    }
}

static void compare(place_t *first, place_t *other, const regions_t *regions) {
    fill(first, other, regions);
    bool same = execute(first) == execute(other);
    for (uint32_t i = PLANNED; i < regions->count; i++) {
        same = same && memcmp(first->at[i], other->at[i], regions->size[i]) == 0;
    }
    if (!same) {
        fprintf(stderr, "ERROR: prepared nodes compute something else\n");
        abort();
    }
}

// --- methods -------------------------------------------------------------------------

static bool measure(const ember_program_t *program, const char *name, size_t bytes,
                    regions_t *regions) {
    ember_method_meta_t meta;
    if (ember_method_meta(program, name, &meta, NULL) != EMBER_OK ||
        meta.planned_count > MOST_PLANNED) {
        return false;
    }
    *regions = (regions_t){{bytes, ARENA_BYTES, MOST_BYTES}, PLANNED};
    for (uint32_t id = 1; id <= meta.planned_count; id++) {
        const uint64_t size = ember_method_meta_planned_size(&meta, id);
        if (size > MOST_BYTES) {
            return false;
        }
        regions->size[regions->count++] = (size_t)size;
    }
    return true;
}

static void run_method(const ember_program_t *program, ember_bytes_t bytes,
                       const char *name) {
    static place_t places[3];
    regions_t regions;
    if (!measure(program, name, bytes.size, &regions)) {
        return;
    }
    for (uint32_t i = 0; i < 3; i++) {
        make_place(&places[i], &regions, i);
    }
    if (load(&places[0], &regions, bytes, name) &&
        load(&places[1], &regions, bytes, name)) {
        ember_step_t *steps = prepare(places, &regions);
        fuzz_counts.loaded++;
        compare(&places[0], &places[2], &regions);
        free(steps);
    }
    for (uint32_t i = 0; i < 3; i++) {
        free(places[i].memory);
    }
}

void fuzz_run_prepared(ember_bytes_t bytes) {
    ember_program_t program;
    if (ember_program_open(&program, bytes.data, bytes.size, NULL) != EMBER_OK) {
        return;
    }
    for (uint32_t i = 0; i < MOST_METHODS && i < ember_program_method_count(&program);
         i++) {
        uint32_t length;
        char name[256];
        const char *text = ember_program_method_name(&program, i, &length);
        if (length < sizeof(name)) {
            memcpy(name, text, length);
            name[length] = '\0';
            run_method(&program, bytes, name);
        }
    }
}
