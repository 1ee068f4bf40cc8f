// SPDX-License-Identifier: Apache-2.0
// Mutates program, data and bundle files, and runs what still loads.
//
//     fuzz PACK FIRST LAST STEP      mutations FIRST, FIRST + STEP, .. below LAST
//     fuzz PACK MUTATION FILE        one of them, verbosely; the mutant goes to FILE
//     fuzz PACK seeds                every seed as it is: "<opened> <loaded>
//     <executed>"
//
// A mutation is its number: number % seeds is the seed, and the number also starts the
// random generator, so that a failure can be repeated anywhere. PACK is written by
// run.py: seeds, each with the positions of its fields. Program bytes, arenas, planned
// memory and caller's memory are allocations of exact size, so that the sanitizer sees
// the first byte past an end.
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ember/bundle.h"
#include "ember/data.h"
#include "ember/method.h"
#include "ember/port.h"
#include "table.h"

// Models stand for instructions, as in the port of this computer.
uint32_t ember_port_cpu(void) {
    return UINT32_MAX;
}

enum {
    MOST_SEEDS = 8192,
    MOST_METHODS = 4,
    MOST_PLANNED = 8,
    MOST_VALUES = 64,
    MOST_LENT = 1 << 20, // bytes of one input or output
    ARENA = 1 << 18,
    PLANNED_BYTES = 1 << 16, // more is refused as NO_MEMORY
    BUDGET = 2000,           // instructions of one execution
    HANG_SECONDS = 10,
    MOST_KINDS = 13,      // of unions in programs
    MOST_NODE_KINDS = 50, // of the union of XNNPACK's nodes
};

// --- seeds ---------------------------------------------------------------------------

typedef struct position {
    uint32_t at;
    uint8_t width;
    uint8_t kind;
    uint16_t unused;
} position_t;

enum { HEADER, SCALAR, OFFSET, COUNT, TAG, TABLE, VTABLE, BYTES };

typedef struct seed {
    const char *name;
    const uint8_t *data;
    const position_t *positions;
    uint32_t size;
    uint32_t position_count;
    uint32_t kind;      // 0 program, 1 data file, 2 bundle
    uint32_t companion; // seed of the data file of a program, or the other way; or none
} seed_t;

static seed_t seeds[MOST_SEEDS];
static uint32_t seed_count;

static uint32_t take_u32(const uint8_t **at) {
    uint32_t value;
    memcpy(&value, *at, 4);
    *at += 4;
    return value;
}

static const uint8_t *read_pack(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(2);
    }
    const long size = ftell(file);
    uint8_t *data = malloc((size_t)size);
    rewind(file);
    if (data == NULL || fread(data, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(2);
    }
    fclose(file);
    return data;
}

// Everything in the pack is aligned to 4.
static void read_seeds(const char *path) {
    const uint8_t *at = read_pack(path);
    seed_count = take_u32(&at);
    if (seed_count == 0 || seed_count > MOST_SEEDS) {
        exit(2);
    }
    for (uint32_t i = 0; i < seed_count; i++) {
        seed_t *seed = &seeds[i];
        const uint32_t name_size = take_u32(&at);
        seed->kind = take_u32(&at);
        seed->companion = take_u32(&at);
        seed->size = take_u32(&at);
        seed->position_count = take_u32(&at);
        seed->name = (const char *)at;
        at += name_size;
        seed->data = at;
        at += (seed->size + 3) & ~3u;
        seed->positions = (const position_t *)(const void *)at;
        at += seed->position_count * sizeof(position_t);
    }
}

// --- random numbers
// --------------------------------------------------------------------

static uint64_t state;

static uint64_t next(void) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1DULL;
}

static uint32_t below(uint32_t count) {
    return (uint32_t)((next() >> 33) % (count > 0 ? count : 1));
}

static void start_random(uint64_t number) {
    state = number * 0x9E3779B97F4A7C15ULL + 0x1234567;
    for (int i = 0; i < 4; i++) {
        (void)next();
    }
}

// --- mutations
// -------------------------------------------------------------------------

static uint64_t current; // mutation number, for the report of a failure
static volatile sig_atomic_t verbose;
static bool plain; // no mutations

static uint64_t load(const uint8_t *at, uint32_t width) {
    uint64_t value = 0;
    memcpy(&value, at, width);
    return value;
}

static void store(uint8_t *at, uint32_t width, uint64_t value) {
    if (verbose) {
        printf("  %u bytes at %p: %llx -> %llx\n", width, (const void *)at,
               (unsigned long long)load(at, width), (unsigned long long)value);
    }
    memcpy(at, &value, width);
}

// A number that code may be wrong about; `old` is what is there.
static uint64_t interesting(uint64_t old, uint32_t size) {
    static const uint64_t known[] = {
        0,          1,          2,          3,
        4,          7,          8,          15,
        16,         17,         31,         32,
        64,         127,        128,        255,
        256,        0x7FFF,     0x8000,     0xFFFF,
        0x10000,    0x3FFFFFFF, 0x40000000, 0x7FFFFFFF,
        0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 0x100000000,
        UINT64_MAX, INT64_MAX,  1ULL << 63, UINT64_MAX - 3};
    switch (below(8)) {
    case 0:
        return old + 1;
    case 1:
        return old - 1;
    case 2:
        return size - below(16);
    case 3:
        return old + 4 * (uint64_t)below(16) - 32;
    case 4:
    case 5:
        return below(24);
    default:
        return known[below(sizeof(known) / sizeof(known[0]))];
    }
}

static const position_t *any_position(const seed_t *seed, uint8_t kind) {
    const uint32_t from = below(seed->position_count);
    for (uint32_t i = 0; i < seed->position_count; i++) {
        const position_t *one = &seed->positions[(from + i) % seed->position_count];
        if (one->kind == kind) {
            return one;
        }
    }
    return NULL;
}

// Makes an offset or a table's vtable offset lead to another one's target.
static void redirect(uint8_t *data, const seed_t *seed, const position_t *position) {
    const position_t *other = any_position(seed, position->kind);
    const uint32_t there = (uint32_t)load(data + other->at, 4);
    if (position->kind == OFFSET) {
        store(data + position->at, 4, other->at + there - position->at);
    } else { // a vtable lies at table - offset
        store(data + position->at, 4, position->at - (other->at - there));
    }
}

static void mutate_field(uint8_t *data, const seed_t *seed) {
    const position_t *position = &seed->positions[below(seed->position_count)];
    uint8_t *at = data + position->at;
    const uint64_t old = load(at, position->width);
    switch (position->kind) {
    case OFFSET:
    case TABLE:
        if (below(2) == 0) {
            redirect(data, seed, position);
            return;
        }
        break;
    case TAG:
        store(at, 1, below(below(2) == 0 ? MOST_KINDS : MOST_NODE_KINDS));
        return;
    case SCALAR:
        if (below(3) == 0) { // another field's value
            const position_t *other = any_position(seed, SCALAR);
            store(at, position->width, load(data + other->at, other->width));
            return;
        }
        break;
    default:
        break;
    }
    store(at, position->width, interesting(old, seed->size));
}

static void mutate_once(uint8_t *data, uint32_t *size, const seed_t *seed) {
    const uint32_t at = below(*size);
    const uint32_t width = 1u << below(4);
    switch (below(16)) {
    case 0:
    case 1:
        store(data + at, 1, data[at] ^ (1u << below(8)));
        break;
    case 2:
        store(data + at, 1, next());
        break;
    case 3:
    case 4:
        if (*size >= 8) {
            uint8_t *word = data + (at & ~7u & (*size - 8));
            store(word, width, interesting(load(word, width), *size));
        }
        break;
    case 5:
        if (below(4) == 0) {
            *size = below(8) == 0 ? at : *size - below(*size < 64 ? *size : 64);
        }
        break;
    case 6: { // a piece from elsewhere in the file
        const uint32_t count = 1 + below(16);
        const uint32_t from = below(*size);
        if (at + count <= *size && from + count <= *size) {
            memmove(data + at, data + from, count);
        }
        break;
    }
    default:
        if (seed->position_count > 0 && *size == seed->size) {
            mutate_field(data, seed);
        }
        break;
    }
}

// Bundles ask for 32 bytes; the sanitizer guards the end all the same.
static uint8_t *aligned(size_t size) {
    void *data = NULL;
    return posix_memalign(&data, 32, size > 0 ? size : 1) == 0 ? data : NULL;
}

// A mutant of `seed` in memory of exact size.
static ember_bytes_t mutate(const seed_t *seed) {
    static uint8_t work[1 << 20];
    uint32_t size = seed->size;
    memcpy(work, seed->data, size);
    const uint32_t most = 1 + below(2) + (below(4) == 0 ? below(6) : 0);
    for (uint32_t left = plain ? 0 : most; left > 0 && size > 0; left--) {
        mutate_once(work, &size, seed);
    }
    uint8_t *data = aligned(size);
    memcpy(data, work, size);
    return (ember_bytes_t){data, size};
}

// --- running a program
// -------------------------------------------------------------------

static struct {
    uint64_t mutants, opened, loaded, executed;
} counts;

static void *caller[2 * MOST_VALUES]; // memory lent to inputs and outputs
static uint32_t caller_count;

// Some numbers are likely indices, some are anything.
static void fill(void *data, size_t size) {
    uint8_t *at = data;
    const uint32_t style = below(3);
    for (size_t i = 0; i < size; i++) {
        at[i] = style == 0   ? 0
                : style == 1 ? (uint8_t)(i % 8 == 0 ? below(4) : 0)
                             : (uint8_t)next();
    }
}

static void *lend(size_t size) {
    if (caller_count == 2 * MOST_VALUES || size > MOST_LENT) {
        return NULL;
    }
    uint8_t *data = malloc(size > 0 ? size : 1);
    fill(data, size);
    caller[caller_count++] = data;
    return data;
}

static void set_inputs(ember_method_t *method) {
    for (uint32_t i = 0; i < method->meta.input_count && i < MOST_VALUES; i++) {
        ember_value_t value;
        bool planned;
        if (ember_method_meta_input(&method->meta, i, &value, &planned) != EMBER_OK) {
            continue;
        }
        if (value.kind != EMBER_TENSOR) {
            if (value.kind <= EMBER_DOUBLE && below(2) == 0) {
                (void)!ember_method_set_input(method, i, &value, NULL);
            }
            continue;
        }
        int32_t sizes[EMBER_MAX_RANK];
        uint32_t numel = 1;
        for (uint32_t k = 0; k < value.as_tensor.rank; k++) {
            sizes[k] = value.as_tensor.sizes[k];
            if (sizes[k] > 0 && below(8) == 0) {
                sizes[k] = (int32_t)below((uint32_t)sizes[k] + 1);
            }
            numel *= (uint32_t)sizes[k]; // never above the bound's numel but for zeros
        }
        value.as_tensor.sizes = sizes;
        value.as_tensor.data = lend((size_t)numel * value.as_tensor.element_size);
        if (value.as_tensor.data != NULL || !planned) {
            (void)!ember_method_set_input(method, i, &value, NULL);
        }
    }
}

static void set_outputs(ember_method_t *method) {
    for (uint32_t i = 0; i < method->meta.output_count && i < MOST_VALUES; i++) {
        ember_value_t value;
        bool planned;
        if (ember_method_meta_output(&method->meta, i, &value, &planned) == EMBER_OK &&
            value.kind == EMBER_TENSOR && !planned) {
            const size_t size = ember_tensor_bytes(&value.as_tensor);
            (void)!ember_method_set_output(method, i, lend(size), size, NULL);
        }
    }
}

// Reads every byte of the outputs, as an application would.
static uint32_t read_outputs(ember_method_t *method) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < method->meta.output_count && i < MOST_VALUES; i++) {
        ember_value_t value;
        if (ember_method_output(method, i, &value) == EMBER_OK &&
            value.kind == EMBER_TENSOR && value.as_tensor.data != NULL) {
            const uint8_t *data = value.as_tensor.data;
            for (size_t k = 0; k < ember_tensor_bytes(&value.as_tensor); k++) {
                sum += data[k];
            }
        }
    }
    return sum;
}

static void execute(ember_method_t *method) {
    static volatile uint32_t sink;
    void *old[2 * MOST_VALUES];
    ember_method_set_budget(method, BUDGET);
    for (int turn = 0; turn < 2; turn++) {
        const uint32_t old_count = caller_count;
        memcpy(old, caller, sizeof(old));
        caller_count = 0;
        set_inputs(method);
        set_outputs(method);
        // Memory that was lent before is gone: no node may still use it.
        for (uint32_t i = 0; i < old_count; i++) {
            free(old[i]);
        }
        ember_error_t error;
        const ember_status_t status = ember_method_execute(method, &error);
        if (verbose) {
            printf("  execute: %d at %u %s\n", status,
                   status == EMBER_OK ? 0 : error.instruction,
                   status == EMBER_OK || error.message == NULL ? "" : error.message);
        }
        counts.executed += status == EMBER_OK;
        sink += read_outputs(method);
    }
    for (uint32_t i = 0; i < caller_count; i++) {
        free(caller[i]);
    }
    caller_count = 0;
}

// The tests that a bundle brings for a method.
static void check_bundle(const ember_bundle_t *bundle, ember_method_t *method,
                         const char *name) {
    static _Alignas(16) uint8_t inputs[PLANNED_BYTES];
    ember_bundle_test_t test;
    ember_method_set_budget(method, BUDGET);
    for (uint32_t i = 0; i < 3; i++) {
        ember_arena_t arena = {.data = inputs, .size = PLANNED_BYTES};
        if (ember_bundle_find(bundle, name, i, &test, NULL) == EMBER_OK &&
            ember_bundle_load_inputs(&test, method, &arena, NULL) == EMBER_OK &&
            ember_method_execute(method, NULL) == EMBER_OK) {
            counts.executed++;
            (void)!ember_bundle_compare(&test, method, 1e-3, 1e-3, NULL);
        }
    }
}

// What the method does not need any more may change.
static void spoil_spare(const ember_method_t *method) {
    ember_bytes_t spare;
    for (uint32_t i = 0; ember_method_spare(method, i, &spare); i++) {
        if (verbose) {
            printf("  delegate %u: %zu bytes to spare\n", i, spare.size);
        }
        if (spare.size > 0) {
            memset((void *)(uintptr_t)spare.data, 0xA5, spare.size);
        }
    }
}

static void load_and_execute(const ember_program_t *program,
                             const ember_bundle_t *bundle, const char *name) {
    static _Alignas(16) uint8_t arena[ARENA];
    static _Alignas(16) uint8_t scratch[PLANNED_BYTES];
    ember_span_t planned[MOST_PLANNED] = {{NULL, 0}};
    ember_method_meta_t meta;
    ember_method_t method;
    ember_error_t error = {EMBER_OK, 0, NULL};
    if (ember_method_meta(program, name, &meta, NULL) != EMBER_OK) {
        return;
    }
    for (uint32_t id = 1; id <= meta.planned_count && id <= MOST_PLANNED; id++) {
        const uint64_t size = ember_method_meta_planned_size(&meta, id);
        if (size <= PLANNED_BYTES) {
            planned[id - 1] = (ember_span_t){malloc(size > 0 ? size : 1), size};
            fill(planned[id - 1].data, size);
        }
    }
    ember_memory_t memory = {
        .method = {.data = arena, .size = ARENA},
        .planned = planned,
        .planned_count = MOST_PLANNED,
        .temp = {scratch, PLANNED_BYTES},
    };
    ember_status_t status =
        ember_method_load(&method, program, name, &fuzz_registry, &memory, &error);
    if (verbose) {
        printf("  load %s: %d at %u %s\n", name, status, error.instruction,
               error.message == NULL ? "" : error.message);
    }
    if (status == EMBER_OK) {
        const size_t need = method.arena.peak;
        const size_t temp = method.temp_used;
        ember_method_unload(&method);
        memory.method =
            (ember_arena_t){.data = malloc(need > 0 ? need : 1), .size = need};
        memory.temp = (ember_span_t){malloc(temp > 0 ? temp : 1), temp};
        status =
            ember_method_load(&method, program, name, &fuzz_registry, &memory, &error);
        if (status != EMBER_OK) {
            printf("the second load of %s fails: %d\n", name, status);
            abort();
        }
        counts.loaded++;
        spoil_spare(&method);
        if (bundle != NULL) {
            check_bundle(bundle, &method, name);
        } else {
            execute(&method);
        }
        ember_method_unload(&method);
        free(memory.method.data);
        free(memory.temp.data);
    }
    for (uint32_t i = 0; i < MOST_PLANNED; i++) {
        free(planned[i].data);
    }
}

static void run_methods(const ember_program_t *program, const ember_bundle_t *bundle) {
    for (uint32_t i = 0; i < MOST_METHODS && i < ember_program_method_count(program);
         i++) {
        uint32_t length;
        char name[256];
        const char *text = ember_program_method_name(program, i, &length);
        if (length < sizeof(name)) {
            memcpy(name, text, length);
            name[length] = '\0';
            load_and_execute(program, bundle, name);
        }
    }
}

static void run_program(ember_bytes_t bytes, ember_bytes_t data_file,
                        const ember_bundle_t *bundle) {
    ember_program_t program;
    ember_data_map_t map;
    ember_bytes_t found;
    ember_error_t error;
    const ember_status_t status =
        ember_program_open(&program, bytes.data, bytes.size, &error);
    if (verbose) {
        printf("  open: %d %s\n", status,
               status == EMBER_OK || error.message == NULL ? "" : error.message);
    }
    if (status != EMBER_OK) {
        return;
    }
    counts.opened++;
    if (data_file.data != NULL &&
        ember_data_map_open(&map, data_file.data, data_file.size, NULL) == EMBER_OK) {
        ember_program_attach(&program, &map, 1);
    }
    (void)!ember_program_named_data(&program, "key", 3, &found);
    run_methods(&program, bundle);
}

static void run_bundle(ember_bytes_t bytes) {
    const ember_bytes_t none = {NULL, 0};
    ember_bundle_t bundle;
    if (ember_bundle_open(&bundle, bytes.data, bytes.size, NULL) == EMBER_OK) {
        run_program(bundle.program, none, &bundle);
    }
}

// A copy of exact size: the sanitizer guards its end.
static ember_bytes_t copy_of(const seed_t *seed) {
    uint8_t *data = aligned(seed->size);
    memcpy(data, seed->data, seed->size);
    return (ember_bytes_t){data, seed->size};
}

static void run_mutation(uint64_t number, const char *save) {
    const seed_t *seed = &seeds[number % seed_count];
    const bool paired = seed->companion < seed_count;
    current = number;
    start_random(number);
    const ember_bytes_t mutant = mutate(seed);
    const ember_bytes_t other =
        paired ? copy_of(&seeds[seed->companion]) : (ember_bytes_t){NULL, 0};
    if (save != NULL) {
        FILE *file = fopen(save, "wb");
        if (file != NULL) {
            (void)!fwrite(mutant.data, 1, mutant.size, file);
            fclose(file);
        }
        printf("mutation %llu of %s: %zu bytes\n", (unsigned long long)number,
               seed->name, mutant.size);
        fflush(stdout);
    }
    counts.mutants++;
    if (seed->kind == 0) {
        run_program(mutant, other, NULL);
    } else if (seed->kind == 1 && paired) {
        run_program(other, mutant, NULL);
    } else if (seed->kind == 2) {
        run_bundle(mutant);
    }
    free((void *)(uintptr_t)mutant.data);
    free((void *)(uintptr_t)other.data);
}

// --- reports
// -----------------------------------------------------------------------------

static void report(void) {
    char line[200];
    const seed_t *seed = &seeds[current % seed_count];
    const int length =
        snprintf(line, sizeof(line), "FAILED mutation %llu seed %.100s\n",
                 (unsigned long long)current, seed->name);
    (void)!write(1, line, (size_t)length);
}

static void on_abort(int signal) {
    (void)signal;
    report();
    _exit(3);
}

// Two ticks in one mutation: it hangs.
static void on_alarm(int signal) {
    static uint64_t last = UINT64_MAX;
    (void)signal;
    if (current == last) {
        (void)!write(1, "HANG ", 5);
        report();
        _exit(4);
    }
    last = current;
    (void)alarm(HANG_SECONDS);
}

static void catch (int number, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    (void)sigaction(number, &action, NULL);
}

void __sanitizer_set_death_callback(void (*callback)(void));

static void run_seeds(void) {
    plain = true;
    for (uint32_t i = 0; i < seed_count; i++) {
        counts.opened = counts.loaded = counts.executed = 0;
        run_mutation(i, NULL);
        printf("SEED %d %d %d %s\n", (int)counts.opened, (int)counts.loaded,
               (int)counts.executed, seeds[i].name);
    }
}

int main(int count, char **words) {
    if (count < 3) {
        return 2;
    }
    read_seeds(words[1]);
    __sanitizer_set_death_callback(report);
    catch (SIGABRT, on_abort);
    catch (SIGALRM, on_alarm);
    if (count == 3) {
        run_seeds();
        return 0;
    }
    if (count == 4) {
        verbose = 1;
        run_mutation(strtoull(words[2], NULL, 10), words[3]);
        printf("fine\n");
        return 0;
    }
    (void)alarm(HANG_SECONDS);
    const uint64_t last = strtoull(words[3], NULL, 10);
    const uint64_t step = strtoull(words[4], NULL, 10);
    const unsigned long seconds = count > 5 ? strtoul(words[5], NULL, 10) : 0;
    const time_t begin = time(NULL);
    uint64_t number = strtoull(words[2], NULL, 10);
    for (; number < last; number += step) {
        run_mutation(number, NULL);
        if (seconds != 0 && (counts.mutants & 63) == 0 &&
            (unsigned long)(time(NULL) - begin) >= seconds) {
            break;
        }
    }
    printf("DONE %llu %llu %llu %llu\n", (unsigned long long)counts.mutants,
           (unsigned long long)counts.opened, (unsigned long long)counts.loaded,
           (unsigned long long)counts.executed);
    return 0;
}
