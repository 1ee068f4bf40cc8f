// SPDX-License-Identifier: Apache-2.0
// Guided by coverage (libFuzzer): programs, data files, bundles, payloads of XNNPACK,
// prepared nodes and the serial link. EMBER_FUZZ_TARGET names one.
//
// Oracles: the sanitizer, and the processor's time: opening and loading take no more
// than LOAD_SECONDS, and an execution at most STEP_SECONDS for each step that it was
// charged.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/xnnpack/sme/vector.h"
#include "ember/data.h"
#include "execute.h"
#include "guard.h"
#include "links.h"
#include "prepared.h"
#include "walk.h"

enum { MOST_POSITIONS = 4096 };
static const double LOAD_SECONDS = 0.5, STEP_SECONDS = 1e-6;

static ember_bytes_t companion; // a program that needs a data file, or none

void guard_reset(void) {
}

// --- targets -------------------------------------------------------------------------

static void run_program(ember_bytes_t bytes) {
    fuzz_run_program(bytes, (ember_bytes_t){NULL, 0}, NULL);
}

static void run_data(ember_bytes_t bytes) {
    fuzz_run_program(companion, bytes, NULL);
}

static const struct {
    const char *name;
    void (*run)(ember_bytes_t bytes);
} targets[] = {
    {"program", run_program}, {"payload", run_program},
    {"data", run_data},       {"bundle", fuzz_run_bundle},
    {"link", fuzz_run_link},  {"prepared", fuzz_run_prepared},
};

static void (*run)(ember_bytes_t bytes);

static ember_bytes_t read_file(const char *path) {
    FILE *file = path != NULL ? fopen(path, "rb") : NULL;
    uint8_t *data = fuzz_aligned(1 << 16);
    const size_t size = file != NULL ? fread(data, 1, 1 << 16, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    return (ember_bytes_t){data, size};
}

int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerInitialize(int *count, char ***words) {
    const char *wanted = getenv("EMBER_FUZZ_TARGET");
    (void)count;
    (void)words;
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        if (wanted != NULL && strcmp(wanted, targets[i].name) == 0) {
            run = targets[i].run;
        }
    }
    if (run == NULL) {
        fputs("EMBER_FUZZ_TARGET names no target\n", stderr);
        exit(2);
    }
    companion = read_file(getenv("EMBER_FUZZ_PROGRAM"));
    return 0;
}

// --- one input -----------------------------------------------------------------------

static double seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// What is random in a run follows from its bytes.
static uint64_t number_of(const uint8_t *data, size_t size) {
    uint64_t hash = 0xCBF29CE484222325;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ data[i]) * 0x100000001B3;
    }
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = fuzz_aligned(size); // of exact size
    memcpy(copy, data, size);
    fuzz_start_random(number_of(data, size));
    fuzz_counts.steps = 0;
    const double began = seconds();
    run((ember_bytes_t){copy, size});
    const double took = seconds() - began;
    if (took > LOAD_SECONDS + STEP_SECONDS * (double)fuzz_counts.steps) {
        fprintf(stderr, "ERROR: %.3f s for %llu steps\n", took,
                (unsigned long long)fuzz_counts.steps);
        abort();
    }
    free(copy);
    return 0;
}

// --- mutants -------------------------------------------------------------------------

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned int number);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned int number) {
    static position_t positions[MOST_POSITIONS];
    fuzz_start_random(number);
    if (fuzz_below(4) == 0 || run == fuzz_run_link) {
        return LLVMFuzzerMutate(data, size, most);
    }
    const uint32_t count = walk(data, (uint32_t)size, positions, MOST_POSITIONS);
    if (count == 0) {
        return LLVMFuzzerMutate(data, size, most);
    }
    const seed_t seed = {.name = "",
                         .data = data,
                         .positions = positions,
                         .size = (uint32_t)size,
                         .position_count = count};
    for (uint32_t left = 1 + fuzz_below(3); left > 0; left--) {
        fuzz_mutate_field(data, &seed);
    }
    return size;
}
