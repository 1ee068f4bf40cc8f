// SPDX-License-Identifier: Apache-2.0
// Programs that no exporter writes, every arena that is too small, every bit flipped.
#include <string.h>

#include "check.h"
#include "ember/data.h"
#include "ember/event.h"
#include "node_args.h"
#include "subject.h"
#include "toys.h"

enum { BUDGET = 10000, ROOM = 1 << 16 };

enum { NONE, ALL, EVERY_OTHER, THE_OTHERS } releases; // of blobs
static uint32_t inits;
static size_t scratch;
static uint64_t steps; // of a call of a delegate

static ember_status_t toy_init(const ember_delegate_info_t *info, void **handle) {
    ember_bytes_t data;
    ember_compile_spec_t spec;
    (void)ember_delegate_spec(info, 0, &spec);
    (void)!ember_program_named_data(info->program, "weights", 7, &data);
    if (releases == ALL || (releases == EVERY_OTHER && inits++ % 2 == 0) ||
        (releases == THE_OTHERS && inits++ % 2 != 0)) {
        ember_delegate_release(info);
    }
    *handle = NULL;
    ember_delegate_work(info, steps);
    return ember_delegate_scratch(info, scratch);
}

static ember_status_t toy_execute(void *handle, ember_node_t *call) {
    (void)handle;
    ember_tensor_t x, y;
    ember_node_tensor(call, 0, &x);
    ember_node_output_like(call, 1, &x, &y);
    return EMBER_OK; // whatever the node says
}

static const ember_backend_t backend = {"ToyBackend", toy_init, toy_execute, NULL};
static const ember_backend_t *const items[] = {&backend};
static const ember_backends_t backends = {items, 1};
static const ember_registry_t registry = {&toy_operators, &backends, &ember_changing};

static ember_status_t load(subject_t *subject, const char *name) {
    CHECK_EQ(subject_open(subject, name), EMBER_OK);
    return subject_load(subject, "forward", &registry);
}

static void check_loads(const char *name, ember_status_t loaded, ember_status_t run) {
    subject_t subject;
    const ember_status_t status = load(&subject, name);
    CHECK_EQ(status, loaded);
    if (status == EMBER_OK) {
        CHECK_EQ(ember_method_execute(&subject.method, &subject.error), run);
        subject_close(&subject);
    }
}

static void read_the_list(ember_node_t *node) {
    (void)ember_node_list_int(node, 0, 0);
    CHECK_EQ(ember_node_status(node), EMBER_BAD_PROGRAM);
}

static void count_the_list(ember_node_t *node) {
    (void)ember_node_list_count(node, 0);
}

static void rare_programs_load_or_are_refused(void) {
    check_loads("empty_move.pte", EMBER_OK, EMBER_OK);
    check_loads("deepest.pte", EMBER_OK, EMBER_OK);
    check_loads("empty_nowhere.pte", EMBER_OK, EMBER_OK);
    check_loads("plain_state.pte", EMBER_OK, EMBER_OK);
    check_loads("on_the_cpu.pte", EMBER_OK, EMBER_OK);
    check_loads("nul_in_a_name.pte", EMBER_UNSUPPORTED, EMBER_OK);
    check_loads("all_for_arguments.pte", EMBER_OK, EMBER_OK);
    check_loads("spent_on_arguments.pte", EMBER_BAD_PROGRAM, EMBER_OK);
    check_loads("spent_on_lists.pte", EMBER_BAD_PROGRAM, EMBER_OK);
    toy_probe = read_the_list;
    check_loads("nowhere_in_a_list.pte", EMBER_BAD_PROGRAM, EMBER_OK);
    toy_probe = count_the_list;
    check_loads("few_fixed_lists.pte", EMBER_OK, EMBER_OK);
    check_loads("fixed_lists.pte", EMBER_BAD_PROGRAM, EMBER_OK);
    toy_probe = NULL;
}

static void each_call_of_a_delegate_is_work(void) {
    enum { CALLS = 3, STEPS = 1000 };
    subject_t subject;
    CHECK_EQ(load(&subject, "delegates.pte"), EMBER_OK);
    const uint64_t without = subject.method.work;
    subject_close(&subject);
    steps = STEPS;
    CHECK_EQ(load(&subject, "delegates.pte"), EMBER_OK);
    CHECK_EQ(subject.method.work, without + CALLS * STEPS);
    subject_close(&subject);
    steps = 0;
}

static void devices_are_all_looked_at(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "second_on_device.pte"), EMBER_UNSUPPORTED);
}

static void every_dimension_has_a_bound(void) {
    subject_t subject;
    ember_value_t given;
    float data[8] = {0};
    const int32_t fitting[] = {1, 3};
    const int32_t too_wide[] = {1, 4};
    CHECK_EQ(load(&subject, "matrix.pte"), EMBER_OK);
    CHECK_EQ(ember_method_input(&subject.method, 0, &given), EMBER_OK);
    given.as_tensor.data = data;
    given.as_tensor.sizes = fitting;
    CHECK_EQ(ember_method_set_input(&subject.method, 0, &given, NULL), EMBER_OK);
    given.as_tensor.sizes = too_wide;
    CHECK_EQ(ember_method_set_input(&subject.method, 0, &given, NULL),
             EMBER_BAD_ARGUMENT);
    subject_close(&subject);
}

// As many memories as the method has, and no more.
static void memories_may_be_just_enough(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "memories.pte"), EMBER_OK);
    subject.memory.planned_count = subject.method.meta.planned_count;
    CHECK_EQ(ember_method_load(&subject.method, &subject.program, "forward", &registry,
                               &subject.memory, &subject.error),
             EMBER_OK);
    subject.memory.planned_count = SUBJECT_MOST_PLANNED;
    subject_close(&subject);
}

// A memory without bytes need not be lent; what is said to be there is refused.
static void memories_of_nothing_may_be_missing(void) {
    const ember_bytes_t file = test_file("add.pte");
    subject_t subject;
    CHECK_EQ(subject_open_bytes(&subject, file), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &registry), EMBER_OK);
    CHECK_EQ(subject.method.meta.planned_count, 1);
    memset((uint8_t *)(uintptr_t)subject.method.meta.plan[PLAN_BUFFER_SIZES].at + 4 + 8,
           0, 8);
    subject.memory.planned_count = 0;
    CHECK_EQ(ember_method_load(&subject.method, &subject.program, "forward", &registry,
                               &subject.memory, &subject.error),
             EMBER_BAD_PROGRAM);
    CHECK_EQ(subject.method.planned_count, 0);
    subject.memory.planned_count = SUBJECT_MOST_PLANNED;
    subject_close(&subject);
}

// The identifier is looked at before anything else of a file, however short.
static void other_files_are_told_apart(void) {
    static _Alignas(16) const uint8_t other[16] = {8, 0, 0, 0, 'E', 'T', '9', '9'};
    ember_program_t program;
    CHECK_EQ(ember_program_open(&program, other, 8, NULL), EMBER_UNSUPPORTED);
    CHECK_EQ(ember_program_open(&program, other, 7, NULL), EMBER_BAD_PROGRAM);
}

// The first entry: a number that is one too large, one that lies outside, and an entry
// that does.
static void named_data_lies_in_segments(void) {
    const ember_bytes_t file = test_file("named_three.pte");
    const uint32_t far = 1u << 20;
    ember_program_t program;
    ember_bytes_t data;
    ember_flat_t flat;
    CHECK_EQ(ember_program_open(&program, file.data, file.size, NULL), EMBER_OK);
    ember_flat_begin(&flat, &program.flat, NULL);
    const uint8_t *entry =
        ember_flat_item(&flat, program.root[PROGRAM_NAMED_DATA].at, 0);
    const uint16_t *at =
        ember_flat_layout(&flat, entry, NAMED_FIELDS, flat.layouts[LAYOUT_NAMED]);
    const uint32_t count = vector_count(program.root[PROGRAM_SEGMENTS].at);
    CHECK(at[NAMED_SEGMENT] != 0);
    memcpy((uint8_t *)(uintptr_t)entry + at[NAMED_SEGMENT], &count, sizeof(count));
    CHECK_EQ(ember_program_named_data(&program, "first", 5, &data), EMBER_BAD_PROGRAM);
    CHECK_EQ(ember_program_named_data(&program, "key", 3, &data), EMBER_OK);
    memcpy((uint8_t *)(uintptr_t)program.root[PROGRAM_NAMED_DATA].at + 4, &far,
           sizeof(far));
    CHECK_EQ(ember_program_named_data(&program, "first", 5, &data), EMBER_BAD_PROGRAM);
    test_free((void *)(uintptr_t)file.data);
}

static void a_method_that_is_not_there(void) {
    subject_t subject;
    CHECK_EQ(subject_open(&subject, "add.pte"), EMBER_OK);
    CHECK_EQ(ember_method_load(&subject.method, &subject.program, "nothing", &registry,
                               &subject.memory, &subject.error),
             EMBER_NOT_FOUND);
}

// A kernel finds what it is given malformed; it is the file's fault that is told.
static void the_cause_is_told(void) {
    static const ember_registry_t fixed = {&toy_operators, NULL, NULL};
    subject_t subject;
    CHECK_EQ(subject_open(&subject, "dtype_between.pte"), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &fixed), EMBER_UNSUPPORTED);
    CHECK(!EMBER_ERROR_STRINGS ||
          strncmp(subject.error.message, "tensor: unknown dtype", 21) == 0);
}

static void scratch_of_delegates_has_room(void) {
    subject_t subject;
    scratch = 256;
    CHECK_EQ(load(&subject, "delegates.pte"), EMBER_OK);
    CHECK_EQ(subject.method.temp_used, 256);
    subject_close(&subject);
    scratch = ROOM + 1; // more than there is
    CHECK_EQ(load(&subject, "delegates.pte"), EMBER_NO_MEMORY);
    scratch = 0;
}

static void nothing_is_spare_where_nothing_changes(void) {
    subject_t subject;
    ember_bytes_t spare;
    CHECK_EQ(load(&subject, "add.pte"), EMBER_OK);
    CHECK(!ember_method_spare(&subject.method, 0, &spare));
    subject_close(&subject);
}

static uint32_t spare_blobs(const char *name) {
    subject_t subject;
    ember_bytes_t spare;
    uint32_t found = 0;
    releases = ALL;
    CHECK_EQ(load(&subject, name), EMBER_OK);
    releases = NONE;
    for (uint32_t i = 0; ember_method_spare(&subject.method, i, &spare); i++) {
        found += spare.size > 0;
    }
    subject_close(&subject);
    return found;
}

static void empty_blobs_are_not_spare(void) {
    CHECK_EQ(spare_blobs("released.pte"), 2);
}

static void no_constants_use_no_blob(void) {
    CHECK_EQ(spare_blobs("delegates_plain.pte"), 1);
}

// --- blobs beside other segments -----------------------------------------------------

enum { OFFSET, SIZE };

static void put_u64(uint8_t *at, uint64_t value) {
    memcpy(at, &value, sizeof(value));
}

// Where a file says where segment `index` is, or how large; NULL: it does not.
static uint8_t *segment_field(const ember_program_t *program, uint32_t index,
                              uint32_t field) {
    ember_flat_t flat;
    ember_flat_begin(&flat, &program->flat, NULL);
    const uint8_t *table =
        ember_flat_item(&flat, program->root[PROGRAM_SEGMENTS].at, index);
    const uint16_t *at =
        ember_flat_layout(&flat, table, SEGMENT_FIELDS, flat.layouts[LAYOUT_SEGMENT]);
    return at[field] != 0 ? (uint8_t *)(uintptr_t)table + at[field] : NULL;
}

// Segment `index` lies `gap` bytes behind the blob of delegate `blob`, `size` bytes
// long.
typedef struct beside {
    uint32_t index, blob;
    int32_t gap;
    uint32_t size;
    bool used; // the blob by it
} beside_t;

// The bytes of blobs that are spare then.
static void find_spare(const beside_t *beside, uint32_t then, size_t spare[3]) {
    subject_t subject;
    ember_bytes_t bytes;
    releases = ALL;
    CHECK_EQ(load(&subject, "released.pte"), EMBER_OK);
    CHECK(ember_method_spare(&subject.method, beside->blob, &bytes));
    const int64_t at = bytes.data - subject.program.segments.data;
    put_u64(segment_field(&subject.program, beside->index, OFFSET),
            (uint64_t)(at + beside->gap));
    put_u64(segment_field(&subject.program, beside->index, SIZE), beside->size);
    subject_close(&subject);
    releases = then;
    inits = 0;
    CHECK_EQ(subject_load(&subject, "forward", &registry), EMBER_OK);
    uint32_t count = 0;
    while (ember_method_spare(&subject.method, count, &bytes)) {
        spare[count++] = bytes.size;
    }
    CHECK_EQ(count, 3);
    releases = NONE;
    subject_close(&subject);
}

// Segments of released.pte
enum { STATE = 1, LAST_STATE, FIRST_BLOB, SECOND_BLOB, NAMED, LAST_NAMED };
enum { ALONE = 5, SECOND = 6 }; // bytes of blobs

static void blobs_that_others_use_are_not_spare(void) {
    static const beside_t others[] = {
        {NAMED, 0, 0, 1, true},      {NAMED, 0, ALONE - 1, 1, true},
        {NAMED, 0, -1, 2, true},     {NAMED, 0, ALONE, 1, false},
        {NAMED, 0, -1, 1, false},    {STATE, 0, 0, 8, true},
        {STATE, 0, -8, 16, true},    {STATE, 0, -8, 8, false},
        {LAST_STATE, 0, 0, 8, true}, {LAST_NAMED, 0, 0, 4, true},
    };
    size_t spare[3];
    for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        find_spare(&others[i], ALL, spare);
        CHECK_EQ(spare[0], others[i].used ? 0 : ALONE);
        CHECK_EQ(spare[1], SECOND);
        CHECK_EQ(spare[2], 0);
    }
}

// Of the second load the first and the third delegate keep theirs.
static void blobs_that_delegates_keep_are_not_spare(void) {
    static const beside_t others[] = {
        {FIRST_BLOB, 1, 0, 1, true},
        {FIRST_BLOB, 1, SECOND - 1, 1, true},
        {FIRST_BLOB, 1, SECOND, 1, false},
        {FIRST_BLOB, 1, -1, 1, false},
    };
    size_t spare[3];
    for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        find_spare(&others[i], EVERY_OTHER, spare);
        CHECK_EQ(spare[0], 0);
        CHECK_EQ(spare[1], others[i].used ? 0 : SECOND);
        CHECK_EQ(spare[2], 0);
    }
}

// Of the second load the second delegate keeps its blob, which may be in the first's.
static void blobs_that_later_delegates_keep_are_not_spare(void) {
    const beside_t over = {SECOND_BLOB, 0, ALONE - 1, 1, true};
    const beside_t behind = {SECOND_BLOB, 0, ALONE, 1, false};
    size_t spare[3];
    find_spare(&over, THE_OTHERS, spare);
    CHECK_EQ(spare[0], 0);
    find_spare(&behind, THE_OTHERS, spare);
    CHECK_EQ(spare[0], ALONE);
}

static void keys_may_begin_with_others(void) {
    static const char *const keys[] = {"first", "key", "key2"};
    subject_t subject;
    ember_bytes_t data;
    CHECK_EQ(subject_open(&subject, "named_three.pte"), EMBER_OK);
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t length = (uint32_t)strlen(keys[i]);
        CHECK_EQ(ember_program_named_data(&subject.program, keys[i], length, &data),
                 EMBER_OK);
        CHECK(data.size == length && memcmp(data.data, keys[i], length) == 0);
    }
}

static void empty_memories_may_be_anywhere(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "memories.pte"), EMBER_OK);
    CHECK_EQ(subject.planned[1].size, 0);
    void *kept = subject.planned[1].data;
    subject.planned[1].data = (uint8_t *)subject.planned[0].data + 1;
    CHECK_EQ(ember_method_load(&subject.method, &subject.program, "forward", &registry,
                               &subject.memory, &subject.error),
             EMBER_OK);
    subject.planned[1].data = kept;
    subject_close(&subject);
}

static void success_leaves_errors_alone(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "add.pte"), EMBER_OK);
    subject.error = (ember_error_t){EMBER_IO, 77, NULL};
    const int32_t sizes[] = {2, 3};
    CHECK_EQ(ember_method_resize_input(&subject.method, 0, 2, sizes, &subject.error),
             EMBER_OK);
    CHECK(subject.error.status == EMBER_IO && subject.error.instruction == 77);
    CHECK_EQ(ember_method_resize_input(&subject.method, 0, 1, sizes, NULL),
             EMBER_BAD_ARGUMENT);
    subject_close(&subject);
}

static void traced_runs_have_budgets(void) {
    subject_t subject;
    const ember_tracer_t tracer = {0};
    CHECK_EQ(load(&subject, "add.pte"), EMBER_OK);
    ember_method_set_budget(&subject.method, 1);
    CHECK_EQ(ember_method_execute_traced(&subject.method, &tracer, &subject.error),
             EMBER_BUDGET);
    subject_close(&subject);
}

// Loads with every size of the method's arena: each allocation fails once.
static void every_arena_that_is_too_small_is_told(void) {
    static const char *const names[] = {"delegates.pte",    "dynamic.pte",
                                        "kinds.pte",        "loop.pte",
                                        "only_dynamic.pte", "views.pte"};
    for (uint32_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
        subject_t subject;
        CHECK_EQ(load(&subject, names[n]), EMBER_OK);
        const size_t peak = subject.method.arena.peak;
        for (size_t size = 0; size < peak; size++) {
            ember_method_t method;
            ember_memory_t memory = subject.memory;
            memory.method = (ember_arena_t){.data = memory.method.data, .size = size};
            CHECK_EQ(ember_method_load(&method, &subject.program, "forward", &registry,
                                       &memory, &subject.error),
                     EMBER_NO_MEMORY);
            CHECK_EQ(subject.error.status, EMBER_NO_MEMORY);
            CHECK(!EMBER_ERROR_STRINGS ||
                  strcmp(subject.error.message, "method: its arena is too small") == 0);
        }
        subject_close(&subject);
    }
}

// A header may leave the size of its segments out: then they reach to the end.
static void segments_begin_inside_the_file(void) {
    enum { BASE_AT = 24, SIZE_AT = 32 };
    ember_program_t program;
    const ember_bytes_t file = test_file("released.pte");
    uint8_t *copy = test_alloc(file.size);
    memcpy(copy, file.data, file.size);
    put_u64(copy + SIZE_AT, 0);
    CHECK_EQ(ember_program_open(&program, copy, file.size, NULL), EMBER_OK);
    put_u64(copy + BASE_AT, file.size + 1);
    CHECK_EQ(ember_program_open(&program, copy, file.size, NULL), EMBER_BAD_PROGRAM);
    test_free(copy);
    test_free((void *)(uintptr_t)file.data);
}

static uint32_t lives;

static void try_file(const uint8_t *data, size_t size) {
    ember_program_t program;
    ember_bytes_t found;
    if (ember_program_open(&program, data, size, NULL) != EMBER_OK) {
        return;
    }
    (void)!ember_program_named_data(&program, "weights", 7, &found);
    subject_t subject;
    CHECK_EQ(subject_open_bytes(&subject, (ember_bytes_t){data, size}), EMBER_OK);
    subject.most_planned = 4096;
    if (subject_load(&subject, "forward", &registry) == EMBER_OK) {
        ember_method_set_budget(&subject.method, BUDGET);
        (void)!ember_method_execute(&subject.method, NULL);
        for (uint32_t i = 0; ember_method_spare(&subject.method, i, &found); i++) {
        }
        subject_close(&subject);
        lives++;
    }
}

static void every_flipped_bit_is_survived(void) {
    static const char *const names[] = {"released.pte", "named.pte", "views.pte"};
    releases = EVERY_OTHER;
    lives = 0;
    for (uint32_t n = 0; test_frees() && n < sizeof(names) / sizeof(names[0]); n++) {
        const ember_bytes_t file = test_file(names[n]);
        uint8_t *copy = test_alloc(file.size);
        for (size_t at = 0; at < file.size; at++) {
            for (uint32_t bit = 1; bit < 256; bit <<= 1) {
                memcpy(copy, file.data, file.size);
                copy[at] ^= (uint8_t)bit;
                try_file(copy, file.size);
            }
        }
        test_free(copy);
        test_free((void *)(uintptr_t)file.data);
    }
    releases = NONE;
    CHECK(lives > 1000 || !test_frees());
}

TESTS(TEST(each_call_of_a_delegate_is_work), TEST(devices_are_all_looked_at),
      TEST(every_dimension_has_a_bound), TEST(memories_may_be_just_enough),
      TEST(memories_of_nothing_may_be_missing), TEST(other_files_are_told_apart),
      TEST(named_data_lies_in_segments), TEST(blobs_that_delegates_keep_are_not_spare),
      TEST(blobs_that_others_use_are_not_spare),
      TEST(rare_programs_load_or_are_refused), TEST(a_method_that_is_not_there),
      TEST(the_cause_is_told), TEST(scratch_of_delegates_has_room),
      TEST(nothing_is_spare_where_nothing_changes), TEST(empty_blobs_are_not_spare),
      TEST(no_constants_use_no_blob), TEST(traced_runs_have_budgets),
      TEST(blobs_that_later_delegates_keep_are_not_spare),
      TEST(keys_may_begin_with_others), TEST(empty_memories_may_be_anywhere),
      TEST(success_leaves_errors_alone), TEST(every_arena_that_is_too_small_is_told),
      TEST(segments_begin_inside_the_file), TEST(every_flipped_bit_is_survived))
