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
// run.py: seeds, each with the positions of its fields.
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backends/xnnpack/sme/vector.h"
#include "ember/port.h"
#include "execute.h"
#include "guard.h"
#include "mutate.h"

enum { HANG_SECONDS = 10 };

// Models stand for instructions, as in the port of the host.
uint32_t ember_port_cpu(void) {
    return UINT32_MAX;
}

static uint64_t current; // mutation number, for the report of a failure

// A copy of exact size: the sanitizer guards its end.
static ember_bytes_t copy_of(const seed_t *seed) {
    uint8_t *data = fuzz_aligned(seed->size);
    memcpy(data, seed->data, seed->size);
    return (ember_bytes_t){data, seed->size};
}

static void run_mutation(uint64_t number, const char *save, bool plain) {
    const seed_t *seed = &fuzz_seeds[number % fuzz_seed_count];
    const bool paired = seed->companion < fuzz_seed_count;
    current = number;
    fuzz_start_random(number);
    ember_xnn_sme_model_vector = plain ? 64 : 16u << fuzz_below(4);
    const ember_bytes_t mutant = fuzz_mutate(seed, plain);
    const ember_bytes_t other =
        paired ? copy_of(&fuzz_seeds[seed->companion]) : (ember_bytes_t){NULL, 0};
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
    fuzz_counts.mutants++;
    if (seed->kind == 0) {
        fuzz_run_program(mutant, other, NULL);
    } else if (seed->kind == 1 && paired) {
        fuzz_run_program(other, mutant, NULL);
    } else if (seed->kind == 2) {
        fuzz_run_bundle(mutant);
    }
    free((void *)(uintptr_t)mutant.data);
    free((void *)(uintptr_t)other.data);
}

// --- reports
// -----------------------------------------------------------------------------

static void report(void) {
    char line[200];
    const seed_t *seed = &fuzz_seeds[current % fuzz_seed_count];
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
    for (uint32_t i = 0; i < fuzz_seed_count; i++) {
        fuzz_counts.opened = fuzz_counts.loaded = fuzz_counts.executed = 0;
        run_mutation(i, NULL, true);
        printf("SEED %d %d %d %s\n", (int)fuzz_counts.opened, (int)fuzz_counts.loaded,
               (int)fuzz_counts.executed, fuzz_seeds[i].name);
    }
}

int main(int count, char **words) {
    if (count < 3) {
        return 2;
    }
    fuzz_read_seeds(words[1]);
    __sanitizer_set_death_callback(report);
    catch (SIGABRT, on_abort);
    catch (SIGALRM, on_alarm);
    if (count == 3) {
        run_seeds();
        guard_log();
        return 0;
    }
    if (count == 4) {
        fuzz_verbose = 1;
        run_mutation(strtoull(words[2], NULL, 10), words[3], false);
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
        run_mutation(number, NULL, false);
        if (seconds != 0 && (fuzz_counts.mutants & 63) == 0 &&
            (unsigned long)(time(NULL) - begin) >= seconds) {
            break;
        }
    }
    guard_log();
    printf("DONE %llu %llu %llu %llu\n", (unsigned long long)fuzz_counts.mutants,
           (unsigned long long)fuzz_counts.opened,
           (unsigned long long)fuzz_counts.loaded,
           (unsigned long long)fuzz_counts.executed);
    return 0;
}
